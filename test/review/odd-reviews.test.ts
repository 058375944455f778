import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { completion, feedbackApi, storeJudge } from '../feedback/feedback-api.js';

const REFUSALS = [400, 404, 413, 415, 422];

describe('odd feedback', function () {
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

  it('by the form of a link is refused clearly or kept', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 });
    const names = ['completion_id', 'thumbs_up', 'reason', 'expected_output', 'reviewer_name', 'form', 'x'];
    const headers = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' };
    const values = fc.oneof(text, fc.constant(spanId), fc.constant('true'));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), values), async (sent) => {
        const body = new URLSearchParams(sent).toString();
        const response = await send(`${url}/feedback`, 'POST', { key: null, body, headers });
        if (response.status === 303) return;
        expect(response.text.length).to.be.lessThan(50_000);
        expect(response.text).to.not.match(/node_modules|SQLITE|ClickHouse|\.js:\d/);
        // A form with a known completion comes back as a page.
        if (response.status === 422 && response.json === undefined) {
          expect(response.text).to.include('role="alert"');
          return;
        }
        expect(REFUSALS, response.text).to.include(response.status);
        expect(response.json).to.include.keys('type', 'title', 'status', 'detail', 'request_id');
      }),
      { numRuns: 140 },
    );
  });

  it('leaves the server well', async () => {
    expect((await server.request('GET', '/readyz', { key: null })).status).to.equal(200);
    const { text } = await server.request('GET', '/metrics', { key: null });
    expect(text).to.not.match(/http_request_duration_seconds_count\{[^}]*status="5/);
  });
});
