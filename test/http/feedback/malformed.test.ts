import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { bootServer, send, type TestResponse, type TestServer } from '../harness.js';
import { completion, feedbackApi, storeJudge } from './feedback-api.js';

const RUNS = { numRuns: 300 };
const REFUSALS = [400, 404, 413, 415, 422];

describe('malformed feedback', function () {
  this.timeout(120_000);
  let server: TestServer;
  let api: ReturnType<typeof feedbackApi>;
  let url: string;
  let spanId: string;
  let judge: string;

  before(async () => {
    server = await bootServer();
    api = feedbackApi(server);
    await api.ensure('p');
    const criteria = ['a', '__proto__', 'b\nc'].map((key) => ({ key, label: key, description: key }));
    judge = storeJudge(server, { task_slug: 'p', evaluation_type: 'scored', criteria });
    const span = completion('p');
    spanId = span.id;
    await api.spans([span]);
    url = (await api.link({ prompt_slug: 'p' })).json.url;
  });
  after(() => server.dispose());

  const odd = fc.oneof(
    fc.constantFrom<unknown>(null, '', '\0', '\ud800', -0, 1e308, [], {}, '__proto__', { __proto__: 1 }, '{p1:String}'),
    fc.jsonValue({ maxDepth: 3 }),
  );
  const maybe = (good: fc.Arbitrary<unknown>) => fc.oneof({ weight: 3, arbitrary: good }, odd);
  const objects = (of: Record<string, fc.Arbitrary<unknown>>) =>
    fc.oneof({ weight: 6, arbitrary: fc.record(of, { requiredKeys: [] }) }, odd);
  const text = fc.string({ unit: 'binary', maxLength: 20 });

  function expectClear(response: TestResponse, taken: number[]): void {
    if (taken.includes(response.status)) return;
    expect(REFUSALS, response.text).to.include(response.status);
    expect(response.json).to.include.keys('type', 'title', 'status', 'detail', 'request_id');
    expect(response.text.length).to.be.lessThan(50_000);
    expect(response.text).to.not.match(/node_modules|SQLITE|ClickHouse|\.js:\d/);
  }

  /** What was taken is read back whole; what was refused changed nothing. */
  async function expectKept(id: string, response: TestResponse): Promise<void> {
    const read = await api.unified('span', id);
    if (response.status !== 200) expect(read.status).to.equal(404);
    else expect(read.json.items[0]).to.include({ id: response.json.id, thumbs_up: response.json.thumbs_up });
  }

  it('on a completion or judge is refused clearly or kept', async () => {
    const criterion = maybe(
      fc.record({ expected_score: maybe(fc.double({ min: 1, max: 5, noNaN: true })), reason: maybe(text) }),
    );
    const body = objects({
      thumbs_up: maybe(fc.boolean()),
      reason: maybe(text),
      expected_output: maybe(text),
      metadata: maybe(fc.dictionary(text, odd)),
      judge_id: maybe(fc.constant(judge)),
      expected_score: maybe(fc.integer({ min: 1, max: 5 })),
      score_direction: maybe(fc.constantFrom('too_high', 'too_low')),
      criteria_feedback: maybe(fc.dictionary(fc.constantFrom('a', '__proto__', 'b\nc', 'x'), criterion)),
    });
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const id = randomUUID();
        const response = await api.give('p', id, JSON.stringify(sent));
        expectClear(response, [200]);
        await expectKept(id, response);
        statuses.add(response.status);
      }),
      RUNS,
    );
    expect([...statuses]).to.include.members([200, 422]);
  });

  it('keeps criteria by keys of any name', async () => {
    const sent = { thumbs_up: true, judge_id: judge };
    const criteria = '{"__proto__":{"expected_score":2},"b\\nc":{"expected_score":3,"reason":"r"}}';
    const text = `${JSON.stringify(sent).slice(0, -1)},"criteria_feedback":${criteria}}`;
    const { status, text: answered } = await api.give('p', randomUUID(), text);
    expect(status).to.equal(200);
    expect(answered).to.include('"__proto__":{"expected_score":2,"reason":null}').and.to.include('"b\\nc":{');
    for (const bad of [
      '{"b\\nc":7}',
      '{"b\\nc":{"expected_score":"3"}}',
      '{"b\\nc":{"reason":{}}}',
      '{"__proto__":null}',
    ]) {
      const body = `${JSON.stringify(sent).slice(0, -1)},"criteria_feedback":${bad}}`;
      expect((await api.give('p', randomUUID(), body)).status, bad).to.equal(422);
    }
  });

  it('links are refused clearly or made', async () => {
    const body = objects({
      prompt_slug: maybe(fc.constant('p')),
      link_type: maybe(fc.constant('prompt_completion')),
      expires_in_days: maybe(fc.integer({ min: 1, max: 365 })),
    });
    await fc.assert(
      fc.asyncProperty(body, async (sent) => expectClear(await api.link(JSON.stringify(sent)), [200])),
      RUNS,
    );
  });

  it('by a link is refused clearly or kept, as JSON and as a form', async () => {
    const fields = {
      completion_id: maybe(fc.constant(spanId)),
      thumbs_up: maybe(fc.boolean()),
      reason: maybe(text),
      expected_output: maybe(text),
      reviewer_name: maybe(text),
      form: maybe(text),
    };
    const headers = { accept: 'application/json' };
    await fc.assert(
      fc.asyncProperty(objects(fields), async (sent) => {
        const json = await send(`${url}/feedback`, 'POST', { key: null, body: JSON.stringify(sent), headers });
        expectClear(json, [200]);
      }),
      { numRuns: 140 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.constantFrom(...Object.keys(fields), 'x'),
          fc.oneof(text, fc.constant(spanId), fc.constant('true')),
        ),
        async (sent) => {
          const body = new URLSearchParams(sent).toString();
          const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
          const response = await send(`${url}/feedback`, 'POST', { key: null, body, headers: form });
          // A form with a known completion comes back as a page.
          if (response.status !== 422 || response.json !== undefined) expectClear(response, [303]);
          else expect(response.text).to.include('role="alert"');
        },
      ),
      { numRuns: 140 },
    );
  });

  it('leaves the server well', async () => {
    expect((await server.request('GET', '/readyz', { key: null })).status).to.equal(200);
    const { text } = await server.request('GET', '/metrics', { key: null });
    expect(text).to.not.match(/http_request_duration_seconds_count\{[^}]*status="5/);
  });
});
