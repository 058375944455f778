import { expect } from 'chai';
import { bootServer, type TestResponse, type TestServer } from '../harness/server.js';
import { feedbackApi, withDatabase } from '../feedback/feedback-api.js';
import { formValue, LinkedPrompt, Visitor } from './linked-prompt.js';

const REVIEWERS = 16;
const TEXT = 10_000;

/** A link may have 16 reviewers here, and 1 MB of what they say. */
describe('whoever has a feedback link', function () {
  this.timeout(60_000);
  let server: TestServer;
  let prompt: LinkedPrompt;
  let url: string;
  let id: string;
  let completions: readonly string[];

  before(async () => {
    server = await bootServer({
      env: {
        TRUSTED_PROXIES: '1',
      },
      limits: { reviewers: REVIEWERS, reviewBytes: 1024 * 1024, reviewTextCharacters: TEXT },
    });
  });
  after(() => server.dispose());
  beforeEach(async () => {
    prompt = await LinkedPrompt.make(feedbackApi(server));
    completions = (await prompt.complete(20)).map((span) => span.id);
    ({ url, id } = await prompt.link());
  });

  const from = (address: string) => ({ 'x-forwarded-for': address });
  const give = (visitor: Visitor, address: string, fields: Record<string, string> = {}) =>
    visitor.post({ completion_id: completions[0] ?? '', thumbs_up: 'true', ...fields }, from(address));
  /** A browser that has opened the page. */
  const browser = async (address: string) => {
    const visitor = new Visitor(url);
    await visitor.get('', from(address));
    return visitor;
  };
  const said = async () => (await feedbackApi(server).unified('span', completions[0] ?? '')).json.items as any[];

  it('cannot change what another browser said under the same name', async () => {
    const [ann, other] = [await browser('192.0.2.1'), await browser('192.0.2.1')];
    expect((await give(ann, '192.0.2.1', { reviewer_name: 'Ann', reason: 'first' })).status).to.equal(303);
    expect((await give(other, '192.0.2.1', { reviewer_name: 'Ann', reason: 'second' })).status).to.equal(303);
    const stranger = { completion_id: completions[0], thumbs_up: false, reviewer_name: 'Ann', reason: 'third' };
    expect((await new Visitor(url).postJson(stranger, from('192.0.2.1'))).status).to.equal(200);
    expect((await new Visitor(url).postJson(stranger, from('192.0.2.9'))).status).to.equal(200);
    expect((await said()).map(({ reason }) => reason).sort()).to.deep.equal(['first', 'second', 'third', 'third']);
    expect((await give(ann, '198.51.100.7', { reason: 'changed' })).status).to.equal(303);
    expect((await said()).map(({ reason }) => reason).sort()).to.deep.equal(['changed', 'second', 'third', 'third']);
    expect((await other.get(`?c=${completions[0]}`, from('192.0.2.1'))).text).to.include('second');
  });

  it('cannot send the form of another’s page in a name', async () => {
    const silent = { origin: 'null', ...from('192.0.2.1') };
    const [ann, other] = [await browser('192.0.2.1'), await browser('192.0.2.1')];
    for (const visitor of [ann, other]) await give(visitor, '192.0.2.1', { reviewer_name: 'Ann' });
    const fields = { completion_id: completions[1] ?? '', thumbs_up: 'true' };
    const theirs = formValue(await other.get(`?c=${completions[1]}`, from('192.0.2.1')));
    expect((await ann.post({ ...fields, form: theirs }, silent)).status).to.equal(422);
    const own = formValue(await ann.get(`?c=${completions[1]}`, from('192.0.2.1')));
    expect((await ann.post({ ...fields, form: own }, silent)).status).to.equal(303);
  });

  for (const [kind, address] of [
    ['one address', () => '192.0.2.1'],
    ['one /48 of IPv6', (n: number) => `2001:db8:77:${n}::1`],
  ] as const) {
    it(`cannot use up its reviewers with names made up from ${kind}`, async () => {
      const early = await browser('198.51.100.1');
      expect((await give(early, '198.51.100.1', { reviewer_name: 'Early' })).status).to.equal(303);
      const answers: TestResponse[] = [];
      for (let n = 0; n < REVIEWERS; n += 1)
        answers.push(await give(new Visitor(url), address(n), { reviewer_name: `Invented ${n}` }));
      const taken = answers.filter(({ status }) => status === 303);
      expect(taken).to.have.length(REVIEWERS / 2 - 1);
      const refused = answers.at(-1);
      expect(refused?.status).to.equal(422);
      expect(refused?.text).to.include(
        'Your name would exceed the number of reviewers that this link accepts from your network',
      );
      expect((await give(await browser('203.0.113.5'), '203.0.113.5', { reviewer_name: 'Late' })).status).to.equal(303);
      // Who was there before is refused nothing, wherever they are now.
      expect((await give(early, address(0), { reason: 'again' })).status).to.equal(303);
    });
  }

  it('cannot fill it up with text from one network', async () => {
    const attacker = await browser('192.0.2.1');
    const statuses: number[] = [];
    let last: TestResponse | undefined;
    for (let n = 0; n < 40; n += 1) {
      const fields = { reason: 'r'.repeat(TEXT), expected_output: '\u4e2d'.repeat(TEXT) };
      last = await give(attacker, '192.0.2.1', {
        ...fields,
        completion_id: completions[n % 20] ?? '',
        reviewer_name: n < 20 ? 'A' : 'B',
      });
      statuses.push(last.status);
    }
    // 40,512 bytes each, of half a megabyte.
    expect(statuses.filter((status) => status === 303)).to.have.length(12);
    expect(last?.status).to.equal(422);
    expect(last?.text)
      .to.include('This link accepts no more feedback from your network')
      .and.to.include('r'.repeat(TEXT));
    expect((await give(await browser('198.51.100.1'), '198.51.100.1', { reviewer_name: 'Late' })).status).to.equal(303);
    // Saying less makes room.
    expect((await give(attacker, '192.0.2.1', { reviewer_name: 'A', reason: 'short' })).status).to.equal(303);
    const bytes = withDatabase(server, (db) =>
      db.prepare<[string], number>('SELECT sum(bytes) FROM feedback_guests WHERE link_id = ?').pluck().get(id),
    );
    expect(bytes).to.equal(11 * (512 + 4 * TEXT) + (512 + 5) + 512);
  });

  it('sends short texts only, and learns which is too long', async () => {
    const reviewer = await browser('192.0.2.1');
    const long = await give(reviewer, '192.0.2.1', { reviewer_name: 'Ann', expected_output: 'x'.repeat(TEXT + 1) });
    expect(long.status).to.equal(422);
    expect(long.text).to.match(/The better answer must have at most 10,?000 characters/);
    const huge = await give(reviewer, '192.0.2.1', { reviewer_name: 'Ann', expected_output: 'x'.repeat(250_000) });
    expect(huge.status).to.equal(413);
    expect(huge.text).to.include('The text is too long');
    const lines = 'a\r\n'.repeat(TEXT / 2);
    expect((await give(reviewer, '192.0.2.1', { reviewer_name: 'Ann', reason: lines })).status).to.equal(303);
    expect((await said()).map(({ reason }) => reason)).to.deep.equal(['a\n'.repeat(TEXT / 2)]);
  });
});
