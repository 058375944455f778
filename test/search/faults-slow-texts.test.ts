import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { span, START, uuid } from '../harness/checked-api.js';
import { unhurried } from '../harness/program.js';
import { TailClient } from '../harness/tail-client.js';

const LONGEST = 1000;
const MEGABYTE = 1024 * 1024;
/** Texts that match nearly everywhere, up to their last character, and what was sent to find them in. */
const SLOW: Readonly<Record<string, { readonly text: string; readonly q: string }>> = {
  'one letter': { text: 'a'.repeat(4 * MEGABYTE), q: `${'a'.repeat(LONGEST - 1)}b` },
  'a letter with another beyond ASCII': { text: 's'.repeat(4 * MEGABYTE), q: `${'s'.repeat(LONGEST - 1)}ſ` },
  'beyond ASCII': { text: 'Ж'.repeat(2 * MEGABYTE), q: `${'ж'.repeat(LONGEST - 1)}щ` },
  'without case': { text: '日本'.repeat(MEGABYTE), q: `${'日本'.repeat(LONGEST / 2 - 1)}日語` },
  'two letters': { text: 'Ab'.repeat(2 * MEGABYTE), q: `${'aB'.repeat(LONGEST / 2 - 1)}ac` },
};

describe('a search for a long text in long texts', function () {
  this.timeout(unhurried(60_000));
  let server: TestServer;

  before(async () => {
    server = await bootServer({ env: { READ_TIMEOUT_SECONDS: '20' } });
    for (const [index, { text }] of Object.values(SLOW).entries()) await store(index, `${text} END`);
  });
  after(() => server.dispose());

  async function store(number: number, output_data: string): Promise<void> {
    const spans = [span(number, { session_id: uuid(2_000_000 + number), started_at: START, output_data })];
    expect((await server.request('POST', '/spans', { body: spans })).status).to.equal(200);
  }

  async function answered(path: string) {
    const from = performance.now();
    const answer = await server.request('GET', path);
    expect(answer.status, answer.text.slice(0, 500)).to.equal(200);
    expect(performance.now() - from, path.slice(0, 40)).to.be.lessThan(unhurried(5_000));
    return answer.json;
  }

  for (const [name, { q, text }] of Object.entries(SLOW)) {
    it(`takes seconds at most, wherever it is asked: ${name}`, async () => {
      const query = `q=${encodeURIComponent(q)}&started_after=0`;
      for (const list of ['spans', 'traces', 'sessions']) {
        const parameters = list === 'sessions' ? query.replace('started', 'created') : query;
        expect(await answered(`/${list}?${parameters}`), list).to.deep.equal([]);
        expect((await answered(`/${list}:stats?${parameters}`)).totals, list).to.include({ count: 0 });
        expect((await answered(`/${list}:facets?field=name&${parameters}`)).values, list).to.deep.equal([]);
      }
    });

    it(`finds what is there, and tails it: ${name}`, async () => {
      const characters = [...q].length - 4;
      const last = `${[...text].slice(-characters).join('')} end`;
      const number = Object.keys(SLOW).indexOf(name);
      const found = await answered(`/spans?q=${encodeURIComponent(last)}&fields=id`);
      expect(found).to.deep.equal([{ id: uuid(number) }]);
      const tail = await TailClient.open(server, `/spans:tail?q=${encodeURIComponent(last)}&fields=id`);
      await store(100 + number, text);
      await store(200 + number, `${text} END`);
      await tail.until(() => tail.rows.length > 0, unhurried(8_000));
      expect(tail.rows).to.deep.equal([{ id: uuid(200 + number) }]);
      tail.close();
      for (const id of [100 + number, 200 + number])
        expect((await server.request('DELETE', `/spans/${uuid(id)}`)).status).to.equal(204);
    });
  }

  it('is refused beyond a length, wherever it is asked', async () => {
    const q = 'é'.repeat(LONGEST + 1);
    for (const list of ['spans', 'traces', 'sessions'])
      for (const path of [`/${list}?`, `/${list}:stats?`, `/${list}:facets?field=name&`, `/${list}:tail?`]) {
        if (path === '/sessions:tail?') continue;
        const answer = await server.request('GET', `${path}q=${encodeURIComponent(q)}`);
        expect(answer.status, path).to.equal(422);
        expect(answer.json.errors).to.deep.equal([{ pointer: '?q', detail: 'must have at most 1000 characters' }]);
      }
  });
});
