import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { malformedRequest, seeded } from '../malformed-requests.js';
import type { TestResponse } from '../harness.js';
import { answer, passing } from './model-endpoint.js';
import { JudgeBench, type JudgeApi, type Json } from './judge-api.js';

const RUNS = { numRuns: 250 };
const REFUSALS = [400, 404, 405, 413, 415, 422, 431];

describe('malformed requests about judges', function () {
  this.timeout(120_000);
  let bench: JudgeBench;
  let api: JudgeApi;
  let scored: Json;
  let span: Json;
  before(async () => {
    bench = await JudgeBench.boot();
    ({ api } = bench);
    bench.endpoint.reset(() => answer(passing));
    const criteria = ['a', 'b'].map((key) => ({ key }));
    scored = await api.createScored({ criteria, enabled: false });
    span = await api.postOne();
  });
  after(() => bench.dispose());

  const odd = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      '',
      '\0',
      '\ud800',
      -0,
      1e308,
      -1,
      [],
      {},
      '__proto__',
      'x'.repeat(5000),
      '{p1:String}',
    ),
    fc.jsonValue({ maxDepth: 3 }),
  );
  const maybe = (good: fc.Arbitrary<unknown>) => fc.oneof({ weight: 3, arbitrary: good }, odd);
  const objects = (of: Record<string, fc.Arbitrary<unknown>>) =>
    fc.oneof({ weight: 6, arbitrary: fc.record(of, { requiredKeys: [] }) }, odd);
  const text = fc.string({ unit: 'binary', maxLength: 30 });
  const number = fc.double({ min: -20, max: 20, noNaN: true });

  function expectClear(response: TestResponse, taken: readonly number[]): void {
    if (taken.includes(response.status)) return;
    expect(REFUSALS, response.text.slice(0, 500)).to.include(response.status);
    expect(response.json).to.include.keys('type', 'title', 'status', 'detail', 'request_id');
    if (response.status === 422) expect(response.json.errors).to.have.length.within(1, 100);
    expect(response.text.length).to.be.lessThan(50_000);
    expect(response.text).to.not.match(/node_modules|SQLITE|ClickHouse|DB::|\.js:\d/);
  }

  const judge = objects({
    name: maybe(text),
    evaluation_type: maybe(fc.constantFrom('binary', 'scored')),
    score_min: maybe(number),
    score_max: maybe(number),
    pass_threshold: maybe(number),
    criteria: maybe(
      fc.array(objects({ key: maybe(fc.constantFrom('a', 'b')), label: maybe(text), description: maybe(text) }), {
        maxLength: 3,
      }),
    ),
    model: maybe(text),
    temperature: maybe(fc.double({ min: 0, max: 2, noNaN: true })),
    sample_rate: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
    filters: maybe(
      objects({
        kinds: maybe(fc.array(maybe(fc.constantFrom('llm', 'tool')), { maxLength: 3 })),
        names: maybe(fc.array(maybe(text), { maxLength: 3 })),
        tags: maybe(fc.dictionary(text, maybe(text), { maxKeys: 3 })),
        prompt_slug: maybe(fc.constantFrom('polite', 'none')),
      }),
    ),
    enabled: maybe(fc.boolean()),
    prompt: maybe(text),
    task_slug: maybe(fc.constantFrom('polite', 'none')),
  });

  it('on a judge are refused clearly or make one that is read back', async () => {
    let made = 0;
    const check = async (body: unknown) => {
      const response = await api.call('POST', 'judges', JSON.stringify(body));
      expectClear(response, [201]);
      if (response.status !== 201) return;
      made += 1;
      const { id } = response.json;
      expect(await api.expect(200, 'GET', `judges/${id}`)).to.deep.equal(response.json);
      const found = (await api.post({ ...span, id: randomUUID() }))[0] ?? {};
      expect((await api.call('GET', `judges/${id}/explain/${found['id']}`)).status).to.equal(200);
      expect((await api.call('POST', `judges/${id}:run`, { backfill: 1 })).status).to.be.oneOf([202, 409]);
      expect((await api.call('DELETE', `judges/${id}`)).status).to.equal(204);
    };
    await fc.assert(fc.asyncProperty(judge, check), RUNS);
    await check({
      name: 'sound',
      evaluation_type: 'binary',
      prompt: 'x',
      filters: { tags: { __proto__x: '1', '': 'é' } },
    });
    expect(made).to.be.greaterThan(0);
  });

  it('that change a judge are refused clearly or change it', async () => {
    await fc.assert(
      fc.asyncProperty(judge, async (body) => {
        const before = await api.expect(200, 'GET', `judges/${scored['id']}`);
        const response = await api.call('PATCH', `judges/${scored['id']}`, JSON.stringify(body));
        expectClear(response, [200]);
        const after = await api.expect(200, 'GET', `judges/${scored['id']}`);
        expect(after).to.deep.equal(response.status === 200 ? response.json : before);
      }),
      RUNS,
    );
    await api.patch(scored['id'], {
      evaluation_type: 'scored',
      score_min: 0,
      score_max: 10,
      pass_threshold: 5,
      criteria: [{ key: 'a' }],
      enabled: false,
    });
  });

  it('on an evaluation are refused clearly or kept', async () => {
    const evaluation = objects({
      span_id: maybe(fc.uuid()),
      evaluation_result: maybe(fc.boolean()),
      evaluation_reason: maybe(text),
      confidence_score: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
      score: maybe(fc.integer({ min: 0, max: 10 })),
      criteria_scores: maybe(
        fc.dictionary(
          fc.constantFrom('a', 'b', '__proto__'),
          objects({ score: maybe(fc.constant(1)), reason: maybe(text) }),
        ),
      ),
      model_used: maybe(text),
      evaluation_duration_ms: maybe(number),
    });
    await fc.assert(
      fc.asyncProperty(evaluation, async (body) => {
        const count = async () => (await api.expect(200, 'GET', `judges/${scored['id']}/evaluations?limit=1`)).total;
        const before = await count();
        const response = await api.call('POST', `judges/${scored['id']}/evaluations`, JSON.stringify(body));
        expectClear(response, [201]);
        expect(await count()).to.equal(Number(before) + (response.status === 201 ? 1 : 0));
        if (response.status !== 201) return;
        const { evaluations } = await api.expect(200, 'GET', `spans/${response.json.span_id}/evaluations`);
        expect(evaluations[0]).to.deep.include(response.json);
      }),
      RUNS,
    );
  });

  it('to run are refused clearly or queued', async () => {
    const run = objects({
      span_ids: maybe(fc.array(maybe(fc.oneof(fc.uuid(), fc.constant(String(span['id'])))), { maxLength: 4 })),
      backfill: maybe(fc.integer({ min: -1, max: 3 })),
    });
    await fc.assert(
      fc.asyncProperty(run, async (body) => {
        expectClear(await api.call('POST', `judges/${scored['id']}:run`, JSON.stringify(body)), [202]);
      }),
      RUNS,
    );
  });

  it('of every kind are refused clearly', async () => {
    const elements = [
      { name: 'x', evaluation_type: 'binary', prompt: 'x', filters: { tags: { a: 'b' } }, enabled: false },
      { name: 'y', evaluation_type: 'binary', prompt: 'y', enabled: false },
    ];
    for (let index = 0; index < 300; index += 1) {
      const { query, body, headers } = malformedRequest(seeded(index * 7919), elements);
      const response = await bench.server.request('POST', `/projects/${bench.server.projectId}/judges${query}`, {
        ...(body === undefined ? {} : { body }),
        headers,
      });
      expectClear(response, [201]);
    }
  });

  it('with odd paths and queries are refused clearly', async () => {
    const part = fc.oneof(
      fc.uuid(),
      fc.constant(String(scored['id'])),
      fc.constant('%00'),
      fc.constant('%ff'),
      fc.string({ maxLength: 20 }).map(encodeURIComponent),
    );
    const query = fc
      .dictionary(
        fc.constantFrom(
          'limit',
          'offset',
          'start_date',
          'end_date',
          'evaluation_result',
          'feedback_state',
          'sort_order',
          'state',
        ),
        maybe(fc.constantFrom('1', 'true', 'queued', 'asc', '2026-01-01', '1e400', '9'.repeat(30), '-1')),
      )
      .map((values) =>
        new URLSearchParams(
          Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)])),
        ).toString(),
      );
    const end = fc.constantFrom('', '/evaluations', '/runs', '/criteria', '/explain/');
    await fc.assert(
      fc.asyncProperty(part, end, part, query, async (id, path, spanId, search) => {
        const tail = path === '/explain/' ? `${path}${spanId}` : path;
        expectClear(await api.call('GET', `judges/${id}${tail}?${search}`), [200]);
        expectClear(await api.call('GET', `spans/${spanId}/evaluations?${search}`), [200]);
      }),
      RUNS,
    );
  });

  it('leave the server well', async () => {
    const judgeOf = await api.create({ name: 'Well' });
    const fresh = await api.postOne();
    await api.evaluated(judgeOf, fresh);
    const { text: metrics } = await bench.server.request('GET', '/metrics', { key: null });
    expect(metrics).to.not.match(/http_request_duration_seconds_count\{[^}]*status="5\d\d"/);
  });
});
