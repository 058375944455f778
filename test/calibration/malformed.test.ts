import { expect } from 'chai';
import fc from 'fast-check';
import { uuid } from '../http/checked-api.js';
import { idsOf, LearningApi } from './learning-api.js';
import { ScriptedModel } from './scripted-model.js';

const RUNS = { numRuns: 200 };

describe('malformed requests about calibration and optimisation', function () {
  this.timeout(120_000);
  let model: ScriptedModel;
  let api: LearningApi;
  let judge: string;

  before(async () => {
    // What is taken fails soon, so that the next one is taken too.
    model = await ScriptedModel.start(() => ({ status: 401 }));
    api = await LearningApi.boot(model);
    judge = (await api.judge()).id;
    await api.expect(200, 'POST', '/v1/tasks/p/prompt/versions/ensure', { content: 'Say {{what}}.' });
    const ids = idsOf(40_000, 4, 4);
    await api.spans(ids.map((id) => ({ id, input_data: 'q', output_data: 'a' })));
    for (const id of ids)
      await api.expect(200, 'POST', `/v1/prompts/p/completions/${id}/feedback`, { thumbs_up: false, reason: 'no' });
  });
  after(async () => {
    await api.server.dispose();
    await model.stop();
  });

  const odd = fc.oneof(
    fc.constantFrom<unknown>(null, '', '\0', '\ud800', -0, 1e308, [], {}, '__proto__', '{p1:String}', uuid(1)),
    fc.jsonValue({ maxDepth: 3 }),
  );
  const maybe = (good: fc.Arbitrary<unknown>) => fc.oneof({ weight: 3, arbitrary: good }, odd);
  const objects = (of: Record<string, fc.Arbitrary<unknown>>) =>
    fc.oneof({ weight: 6, arbitrary: fc.record(of, { requiredKeys: [] }) }, odd);
  const text = fc.string({ unit: 'binary', maxLength: 20 });

  /** Sends each, and answers the statuses that came. Answers are checked against the document. */
  async function sent<T>(of: fc.Arbitrary<T>, send: (value: T) => Promise<{ status: number; text: string }>) {
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(of, async (value) => {
        const { status, text: answer } = await send(value);
        expect(status, answer).to.be.lessThan(500);
        expect(answer.length).to.be.lessThan(50_000);
        expect(answer).to.not.match(/node_modules|SQLITE|ClickHouse|\.js:\d/);
        statuses.add(status);
      }),
      RUNS,
    );
    return [...statuses];
  }

  it('optimisations are refused clearly or made', async () => {
    const body = objects({
      judge_id: maybe(fc.constantFrom(judge, judge.toUpperCase())),
      candidates: maybe(fc.integer({ min: 1, max: 5 })),
      model: maybe(text),
      version: maybe(fc.constant(1)),
      max_examples: maybe(fc.integer({ min: 1, max: 200 })),
    });
    const path = `${api.project}/prompts/p/optimizations`;
    const statuses = await sent(body, async (each) => {
      const response = await api.send('POST', path, JSON.stringify(each));
      if (response.status === 202) await api.finished(`${path}/${response.json.id}`);
      return response;
    });
    expect(statuses).to.include.members([202, 422]);
    expect((await api.get(path)).every(({ status }: any) => status === 'failed')).to.equal(true);
  });

  it('measurements and promotions are refused clearly', async () => {
    const path = `${api.project}/judges/${judge}/calibration`;
    const size = objects({ max_spans: maybe(fc.integer({ min: 1, max: 1000 })) });
    expect(await sent(size, (each) => api.send('POST', `${path}:evaluate`, JSON.stringify(each)))).to.have.members([
      409, 422,
    ]);
    const [{ id }] = await api.get(`${api.project}/prompts/p/optimizations`);
    const candidate = objects({ candidate_id: maybe(fc.uuid()) });
    const promote = `${api.project}/prompts/p/optimizations/${id}:promote`;
    expect(await sent(candidate, (each) => api.send('POST', promote, JSON.stringify(each)))).to.have.members([
      409, 422,
    ]);
  });

  it('queries are refused clearly or answered', async () => {
    const bound = fc.oneof(fc.constantFrom('2026-01-01', '2026-01-01T00:00:00+02:00', '1767225600'), text);
    const query = fc.record(
      { start_date: bound, end_date: bound, versions: fc.oneof(fc.constantFrom('steps', 'each'), text), other: text },
      { requiredKeys: [] },
    );
    const statuses = await sent(query, (each) =>
      api.send('GET', `${api.project}/judges/${judge}/calibration?${new URLSearchParams(each).toString()}`),
    );
    expect(statuses).to.have.members([200, 422]);
  });

  it('leave the server well', async () => {
    expect((await api.server.request('GET', '/readyz', { key: null })).status).to.equal(200);
    const { text: metrics } = await api.server.request('GET', '/metrics', { key: null });
    expect(metrics).to.not.match(/http_request_duration_seconds_count\{[^}]*status="5/);
    expect(metrics).to.match(/spanhouse_jobs_finished_total\{kind="optimization",result="failed"\} [1-9]/);
  });
});
