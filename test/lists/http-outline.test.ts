import { expect } from 'chai';
import { CheckedApi, span, START, uuid, type Row } from '../harness/checked-api.js';
import { ApiDocument } from '../harness/api-document.js';
import { unhurried } from '../harness/program.js';

const TRACE = uuid(1_000_000);

describe('the outline of a trace', () => {
  let api: CheckedApi;
  let document: ApiDocument;

  const outline = async (trace: string) => {
    const response = await api.server.request('GET', `/traces/${trace}/outline`);
    document.check('GET', `/traces/${trace}/outline`, response);
    expect(response.status, response.text.slice(0, 300)).to.equal(200);
    return response;
  };
  const at = (seconds: number) => new Date(Date.parse(START) + seconds * 1000).toISOString();
  const post = (trace: string, spans: readonly Row[]) =>
    api.post(
      'spans',
      spans.map((each) => ({ ...each, trace_id: trace })),
    );

  before(async () => {
    api = await CheckedApi.boot();
    document = await ApiDocument.of(api.server);
  });
  after(() => api.dispose());

  it('has every span, with its parent by place', async () => {
    await post(TRACE, [
      span(3, {
        name: 'tool',
        parent_span_id: uuid(1),
        started_at: at(2),
        duration_ms: 5.5,
        kind: 'http',
        status: 'error',
      }),
      span(1, { name: 'root', ended_at: at(10), cost: 0.25, status: 'ok' }),
      span(2, { name: 'tool', parent_span_id: uuid(1), started_at: at(1.000001), kind: 'http' }),
      span(4, {
        name: 'own call',
        parent_span_id: uuid(3),
        started_at: at(2),
        tags: { 'spanhouse.judge': uuid(9) },
        kind: 'llm',
        attributes: { model: 'gpt-4o', inputTokens: 7 },
      }),
    ]);
    const { json } = await outline(TRACE);
    expect(json).to.deep.equal({
      trace_id: TRACE,
      total: 4,
      start: START,
      spans: {
        id: [1, 2, 3, 4].map(uuid),
        parent: [-1, 0, 0, 2],
        name: [0, 1, 1, 2],
        kind: [0, 1, 1, 2],
        status: [0, -1, 1, -1],
        started_at: [0, 1_000_000, 2_000_000, 2_000_000],
        duration_ms: [10_000, null, 5.5, null],
        cost: [0.25, null, null, null],
      },
      names: ['root', 'tool', 'own call'],
      kinds: ['generic', 'http', 'llm'],
      statuses: ['ok', 'error'],
      errors: [2],
      models: ['gpt-4o'],
      calls: { span: [3], model: [0], input_tokens: [7], output_tokens: [null] },
      missing_parents: { span: [], id: [] },
      cycles: [],
      evaluations: { span: [], passed: [], failed: [] },
      feedback: { span: [], up: [], down: [] },
    });
  });

  it('names parents that are not there, and cycles, of which each begins at its first span', async () => {
    const trace = uuid(1_000_001);
    const parents = [null, 77, null, 5, 3, 4, 3];
    await post(
      trace,
      parents.map((parent, number) =>
        span(number, { started_at: at(number), ...(parent !== null && { parent_span_id: uuid(parent) }) }),
      ),
    );
    const { json } = await outline(trace);
    expect(json.spans.parent).to.deep.equal([-1, -1, -1, -1, 3, 4, 3]);
    expect(json.missing_parents).to.deep.equal({ span: [1], id: [uuid(77)] });
    expect(json.cycles).to.deep.equal([[3, 5, 4]]);
  });

  it('says what the judges said last, and what people said', async () => {
    const { projectId, request } = { ...api.server, request: api.server.request };
    const call = async (method: string, path: string, body: unknown) => {
      const { status, json, text } = await request(method, path, { body });
      expect(status, text).to.be.below(300);
      return json;
    };
    const trace = uuid(1_000_002);
    await post(trace, [span(11), span(12, { attributes: { task: 'p' } }), span(13)]);
    await call('POST', '/v1/tasks/p/prompt/versions/ensure', { content: 'x' });
    await call('POST', `/v1/prompts/p/completions/${uuid(12)}/feedback`, { thumbs_up: false });
    const judges: string[] = [];
    for (const name of ['a', 'b']) {
      await call('POST', `/v1/tasks/${name}/prompt/versions/ensure`, { content: 'Is it good?' });
      const judge = { name, task_slug: name, evaluation_type: 'binary', model: 'm' };
      judges.push((await call('POST', `/projects/${projectId}/judges`, { ...judge, enabled: false })).id);
    }
    const evaluate = (judge: string | undefined, number: number, passed: boolean) =>
      call('POST', `/projects/${projectId}/judges/${judge}/evaluations`, {
        span_id: uuid(number),
        evaluation_result: passed,
        evaluation_reason: 'so',
      });
    await evaluate(judges[0], 11, false);
    await evaluate(judges[0], 11, true);
    await evaluate(judges[1], 11, false);
    await evaluate(judges[1], 13, true);
    const { json } = await outline(trace);
    expect(json.evaluations).to.deep.equal({ span: [0, 2], passed: [1, 1], failed: [1, 0] });
    expect(json.feedback).to.deep.equal({ span: [1], up: [0], down: [1] });
  });

  it('is that of the last writes, and of a trace without spans empty', async () => {
    const trace = uuid(1_000_003);
    await post(trace, [span(21, { name: 'old' }), span(22)]);
    await post(trace, [span(21, { name: 'new' })]);
    await api.server.request('DELETE', `/spans/${uuid(22)}`);
    const { json } = await outline(trace);
    expect([json.total, json.names]).to.deep.equal([1, ['new']]);
    await api.post('traces', [{ id: uuid(1_000_004), session_id: uuid(5), name: 'posted', started_at: START }]);
    const empty = await outline(uuid(1_000_004));
    expect([empty.json.total, empty.json.start, empty.json.spans.id]).to.deep.equal([0, null, []]);
    expect((await api.server.request('GET', `/traces/${uuid(1_000_099)}/outline`)).status).to.equal(404);
  });

  it('of 10,000 spans is answered at once, in at most 800 KB', async () => {
    const trace = uuid(1_000_005);
    const spans = Array.from({ length: 10_000 }, (_, number) =>
      span(100_000 + number, {
        id: crypto.randomUUID(),
        name: `step ${number % 40}`,
        kind: number % 3 === 0 ? 'llm' : 'generic',
        status: 'ok',
        started_at: at(number * 0.0137),
        duration_ms: number / 8,
        ...(number % 3 === 0 && { cost: 0.000123 * (number + 1) }),
        ...(number % 3 === 0 && { attributes: { model: `m ${number % 5}`, inputTokens: 1234, outputTokens: 321 } }),
      }),
    );
    for (const [number, each] of spans.entries())
      if (number > 0) each['parent_span_id'] = spans[Math.floor((number - 1) / 4)]?.['id'];
    for (let from = 0; from < spans.length; from += 2500) await post(trace, spans.slice(from, from + 2500));
    await outline(trace);
    const started = performance.now();
    const { text, json } = await outline(trace);
    // Well under 300 ms on a machine of its own; `npm test` shares its processors.
    expect(performance.now() - started).to.be.below(unhurried(3_000));
    expect(json.spans.id).to.deep.equal(spans.map(({ id }) => id as string));
    expect(text.length).to.be.below(800_000);
  });

  it('has the beginnings of long names and models', async () => {
    const [name, model] = ['n\n"'.repeat(1000), '模'.repeat(100_000)];
    await post(uuid(1_000_700), [
      span(700, { name, kind: 'llm', attributes: { model, inputTokens: 1 } }),
      span(701, { name: 'x'.repeat(256), started_at: at(1) }),
    ]);
    const { json } = await outline(uuid(1_000_700));
    expect(json).to.deep.include({
      names: [`${name.slice(0, 255)}…`, 'x'.repeat(256)],
      models: [`${model.slice(0, 255)}…`],
    });
  });
});
