import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { experimentApi, type ExperimentApi } from './experiment-api.js';

const AT = '2026-01-15T10:00:00.000000Z';

describe('results of experiments over HTTP', () => {
  let api: ExperimentApi;

  before(async () => {
    api = await experimentApi();
  });
  after(() => api?.dispose());

  const post = (id: string, body: unknown) => api.call('POST', `~/${id}/results`, body);
  const results = async (id: string, query = '') => (await api.ok('GET', `~/${id}/results${query}`)).results;

  it('are spans, with the row and what the trace took in which they were made', async () => {
    await api.dataset('spans', 2);
    const experiment = await api.create('spans');
    const trace = randomUUID();
    const call = { model: 'gpt-4o', inputTokens: 10, outputTokens: 5 };
    await api.ok('POST', '/spans', [
      {
        trace_id: trace,
        name: 'made',
        kind: 'llm',
        started_at: AT,
        ended_at: '2026-01-15T10:00:00.250000Z',
        cost: 0.5,
        attributes: call,
      },
    ]);
    const stored = await api.ok('POST', `~/${experiment.id}/results`, [
      {
        row_id: 'r1',
        output_data: { b: 1, a: [true] },
        trace_id: trace,
        scores: { correct: true, tone: 'true', n: 3 },
      },
      { row_id: 'r2', error: 'No answer' },
    ]);
    expect(stored.map(({ row_id, repetition }: any) => [row_id, repetition])).to.deep.equal([
      ['r1', 1],
      ['r2', 1],
    ]);
    const span = await api.ok('GET', `/spans/${stored[0].id}`);
    expect(span).to.deep.include({
      ...{ trace_id: stored[0].id, name: 'trial', kind: 'experiment', status: 'ok', output_data: '{"a":[true],"b":1}' },
      ...{ input_data: '{"id":"r1","question":"Question 1"}', ended_at: null },
    });
    expect(span.attributes).to.deep.equal({
      'spanhouse.experiment.id': experiment.id,
      'spanhouse.experiment.row_id': 'r1',
      'spanhouse.experiment.repetition': 1,
      'spanhouse.experiment.trace_id': trace,
    });
    const [one, two] = await results(experiment.id);
    expect(one).to.deep.include({
      ...{
        id: stored[0].id,
        trace_id: trace,
        row_id: 'r1',
        repetition: 1,
        output_data: '{"a":[true],"b":1}',
        has_error: false,
      },
      ...{
        cost: 0.5,
        duration_ms: 250,
        input_tokens: 10,
        output_tokens: 5,
        scores: { correct: true, tone: 'true', n: 3 },
      },
    });
    expect(two).to.deep.include({
      ...{
        trace_id: stored[1].id,
        output_data: '',
        has_error: true,
        error_message: 'No answer',
        cost: null,
        duration_ms: null,
      },
      scores: {},
    });
    const { figures } = (await api.ok('GET', '~?dataset=spans')).experiments[0];
    expect(figures).to.deep.include({
      ...{ results: 2, rows: 2, errors: 1, cost: 0.5, input_tokens: 10, output_tokens: 5 },
      ...{ duration_ms_p50: 250, duration_ms_p95: 250 },
      scores: [
        { name: 'correct', kind: 'boolean', count: 1, mean: 1 },
        { name: 'n', kind: 'numeric', count: 1, mean: 3 },
        { name: 'tone', kind: 'categorical', count: 1, mean: null },
      ],
    });
  });

  it('are replaced when they are sent again', async () => {
    await api.dataset('again', 1);
    const { id } = await api.create('again', { repetitions: 2 });
    const [one] = (await post(id, { row_id: 'r1', output_data: 'x' })).json;
    const [two] = (await post(id, { row_id: 'r1', output_data: 'y', error: 'e' })).json;
    const [third] = (await post(id, { row_id: 'r1', repetition: 2, output_data: 'z' })).json;
    expect(two.id).to.equal(one.id);
    expect(third.id).to.not.equal(one.id);
    expect((await results(id)).map(({ output_data }: any) => output_data)).to.deep.equal(['y', 'z']);
    expect((await results(id, '?repetition=2')).map(({ output_data }: any) => output_data)).to.deep.equal(['z']);
    expect((await results(id, '?has_error=true')).map(({ output_data }: any) => output_data)).to.deep.equal(['y']);
    expect(await results(id, '?row_id=r2,r3')).to.deep.equal([]);
    expect(await api.ok('GET', `~/${id}/results?limit=1&offset=1`)).to.include({ total: 2, limit: 1, offset: 1 });
  });

  it('are stored all or none', async () => {
    await api.dataset('all', 2);
    const { id } = await api.create('all');
    await api.ok('PUT', `/projects/${api.server.projectId}/score-definitions/share`, { kind: 'numeric', max: 1 });
    const wrong = async (body: unknown) => {
      const { status, json } = await post(id, body);
      expect(status, JSON.stringify(json)).to.equal(422);
      return json.errors.map(({ pointer }: { pointer: string }) => pointer);
    };
    const sound = { row_id: 'r1', output_data: 'x' };
    expect(await wrong([sound, { row_id: 'r9' }])).to.deep.equal(['/1/row_id']);
    expect(await wrong({ row_id: 'r9' })).to.deep.equal(['/row_id']);
    expect(await wrong([sound, sound])).to.deep.equal(['/1/row_id']);
    expect(await wrong([{ ...sound, repetition: 2 }])).to.deep.equal(['/0/repetition']);
    expect(await wrong([sound, { row_id: 'r2', repetition: 0, extra: 1 }])).to.have.members([
      '/1/repetition',
      '/1/extra',
    ]);
    expect(await wrong([sound, { row_id: 'r2', scores: { share: 2 } }])).to.deep.equal(['/1/scores/share']);
    expect(await wrong({ ...sound, scores: { share: 2 } })).to.deep.equal(['/scores/share']);
    expect(await wrong(Array.from({ length: 1001 }, () => sound))).to.deep.equal(['']);
    expect(await results(id)).to.deep.equal([]);
    expect((await post(id, [])).json).to.deep.equal([]);
  });

  it('are missing until they are sent', async () => {
    await api.dataset('missing', 3);
    const { id } = await api.create('missing', { repetitions: 2 });
    await post(id, [
      { row_id: 'r2', output_data: '' },
      { row_id: 'r3', repetition: 2, output_data: '' },
    ]);
    const missing = await api.ok('GET', `~/${id}/missing`);
    expect(missing.missing.map(({ row_id, repetition }: any) => `${row_id}/${repetition}`)).to.deep.equal([
      'r1/1',
      'r1/2',
      'r2/2',
      'r3/1',
    ]);
    const page = await api.ok('GET', `~/${id}/missing?limit=1&offset=2`);
    const { next, ...rest } = page;
    expect(rest).to.deep.equal({ missing: [{ row_id: 'r2', repetition: 2 }], total: 4, limit: 1, offset: 2 });
    expect(await api.ok('GET', `~/${id}/missing?after=${next}`)).to.deep.equal({
      ...{ missing: [{ row_id: 'r3', repetition: 1 }], total: null, next: null, limit: 1000, offset: 0 },
    });
    const walked: unknown[] = [];
    for (let at = (await api.ok('GET', `~/${id}/missing?limit=1`)).next; at !== null;) {
      const found = await api.ok('GET', `~/${id}/missing?limit=1&after=${at}`);
      walked.push(...found.missing);
      at = found.next;
    }
    expect(walked).to.deep.equal(missing.missing.slice(1));
    expect((await api.call('GET', `~/${id}/missing?after=1-2`)).status).to.equal(422);
    await api.ok('PATCH', `~/${id}`, { repetitions: 1 });
    expect((await api.ok('GET', `~/${id}/missing`)).total).to.equal(2);
  });

  it('are refused by one that is finished, and scored all the same', async () => {
    await api.dataset('scored', 1);
    const { id } = await api.create('scored');
    const [{ id: result }] = (await post(id, { row_id: 'r1', output_data: 'x' })).json;
    await api.ok('POST', `~/${id}:finish`);
    expect((await post(id, { row_id: 'r1', output_data: 'y' })).status).to.equal(409);
    await api.ok('POST', '/scores', { entity_type: 'span', entity_id: result, name: 'late', value: 2 });
    expect((await results(id))[0]).to.deep.include({ output_data: 'x', scores: { late: 2 } });
  });

  it('go with their experiment, and the traces in which they were made stay', async () => {
    await api.dataset('gone', 2);
    const { id } = await api.create('gone');
    const trace = randomUUID();
    await api.ok('POST', '/spans', [{ trace_id: trace, name: 'made', started_at: AT }]);
    const marked = { id: randomUUID(), trace_id: randomUUID(), name: 'own', started_at: AT };
    const attributes = { 'spanhouse.experiment.id': id, 'spanhouse.experiment.row_id': 'r2' };
    await api.ok('POST', '/spans', [
      { ...marked, attributes },
      { trace_id: marked.trace_id, name: 'beside', started_at: AT },
    ]);
    const [{ id: result }] = (await post(id, { row_id: 'r1', output_data: 'x', trace_id: trace, scores: { s: 1 } }))
      .json;
    expect((await api.ok('GET', `~/${id}/results`)).total).to.equal(2);
    expect((await api.call('DELETE', `~/${id}`)).status).to.equal(204);
    expect((await api.call('GET', `~/${id}`)).status).to.equal(404);
    expect((await post(id, { row_id: 'r1', output_data: 'x' })).status).to.equal(404);
    for (const span of [result, marked.id]) expect((await api.call('GET', `/spans/${span}`)).status).to.equal(404);
    expect(await api.ok('GET', `/scores?entity_id=${result}`)).to.deep.equal([]);
    expect(await api.ok('GET', `/spans?trace_id=${trace}`)).to.have.length(1);
    expect((await api.ok('GET', `/spans?trace_id=${marked.trace_id}`)).map(({ name }: any) => name)).to.deep.equal([
      'beside',
    ]);
  });

  it('say how their rows begin, by the roles of columns, where that is asked for', async () => {
    const long = 'x'.repeat(1_000);
    const rows = [
      { row_id: 'a', q: long, expected: 'y', n: 1 },
      { row_id: 'b', q: 'z', n: 2 },
      { row_id: 'c', q: 'w'.repeat(70_000), expected: 'v' },
    ];
    await api.ok('POST', '/v1/datasets', { name: 'begins' });
    await api.ok('POST', '/v1/datasets/begins/versions', { rows });
    const { id } = await api.create('begins');
    await post(
      id,
      rows.map(({ row_id }) => ({ row_id, output_data: 'x' })),
    );
    const begins = async (query: string) => (await results(id, query)).map(({ row }: any) => row);
    expect(await begins('')).to.deep.equal([undefined, undefined, undefined]);
    const [first, second, third] = await begins('?rows=true');
    expect(first).to.deep.equal({ input_data: `{"q":"${long}`.slice(0, 600), expected: 'y' });
    expect(second).to.deep.equal({ input_data: '{"q":"z","n":2}', expected: null });
    expect(third).to.include({ expected: null });
    expect(third.input_data).to.have.length(600);
    await api.ok('PATCH', '/v1/datasets/begins', { roles: { q: 'input', n: 'expected' } });
    expect((await begins('?rows=true'))[1]).to.deep.equal({ input_data: 'z', expected: '2' });
    await api.ok('DELETE', '/v1/datasets/begins');
    expect(await begins('?rows=true')).to.deep.equal([null, null, null]);
  });

  it('go with the span of which their row was made', async () => {
    const [from, other] = [randomUUID(), randomUUID()];
    const spans = [from, other].map((id) => ({
      id,
      trace_id: randomUUID(),
      name: 'asked',
      started_at: AT,
      input_data: id,
    }));
    await api.ok('POST', '/spans', spans);
    await api.ok('POST', '/v1/datasets', { name: 'made' });
    await api.ok('POST', '/v1/datasets/made/rows:from_spans', {
      span_ids: [from, other],
      mapping: { q: 'input_data' },
    });
    const experiments = [await api.create('made', { repetitions: 2 }), await api.create('made')];
    for (const { id } of experiments)
      await post(
        id,
        [from, other].map((row_id) => ({ row_id, output_data: 'x', scores: { made: 1 } })),
      );
    const [{ id: result }] = (await post(experiments[0].id, { row_id: from, repetition: 2, output_data: 'y' })).json;
    expect((await api.call('DELETE', `/spans/${from}`)).status).to.equal(204);
    for (const { id } of experiments)
      expect((await results(id)).map(({ row_id }: any) => row_id)).to.deep.equal([other]);
    expect((await api.call('GET', `/spans/${result}`)).status).to.equal(404);
    expect((await api.ok('GET', '/scores?name=made')).length).to.equal(2);
    expect((await post(experiments[0].id, { row_id: from, output_data: 'z' })).status).to.equal(422);
  });

  it('go with it, too, where clients marked them, and with what was made of them', async () => {
    const [from, other] = [randomUUID(), randomUUID()];
    const made = (more: object) => ({ id: randomUUID(), trace_id: randomUUID(), name: 'n', started_at: AT, ...more });
    await api.ok('POST', '/spans', [made({ id: from, input_data: 'one' }), made({ id: other, input_data: 'two' })]);
    const dataset = async (name: string, span_ids: string[]) => {
      await api.ok('POST', '/v1/datasets', { name });
      await api.ok('POST', `/v1/datasets/${name}/rows:from_spans`, { span_ids, mapping: { q: 'input_data' } });
      return api.create(name);
    };
    const first = await dataset('first', [from, other]);
    const marked = (row_id: string, more: object = {}) =>
      made({ input_data: row_id, attributes: { spanhouse: { experiment: { id: first.id, row_id, ...more } } } });
    const result = marked(from);
    const step = made({ trace_id: result.trace_id, parent_id: result.id, input_data: 'the text of the row' });
    const beside = made({ trace_id: randomUUID() });
    const elsewhere = marked(from, { trace_id: beside.trace_id, repetition: 2 });
    const [mine, theirs] = [marked(from, { repetition: 3 }), marked(other)].map((span) => ({
      ...span,
      trace_id: beside.id,
    }));
    await api.ok('POST', '/spans', [result, step, beside, elsewhere, mine, theirs]);
    const second = await dataset('second', [result.id]);
    await api.ok('POST', `~/${second.id}/results`, { row_id: result.id, output_data: 'z' });

    expect((await api.call('DELETE', `/spans/${from}`)).status).to.equal(204);
    const there = async (span: { id: string } | undefined) => (await api.call('GET', `/spans/${span?.id}`)).status;
    for (const gone of [result, step, elsewhere, beside, mine]) expect(await there(gone)).to.equal(404);
    expect(await there(theirs)).to.equal(200);
    expect((await results(first.id)).map(({ row_id }: any) => row_id)).to.deep.equal([other]);
    expect(await results(second.id)).to.deep.equal([]);
  });
});
