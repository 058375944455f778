import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { makeProject } from '../harness/projects.js';
import { send } from '../harness/server.js';
import { experimentApi, type ExperimentApi } from './experiment-api.js';

describe('experiments as the Python SDK sends them', () => {
  let api: ExperimentApi;
  let dataset: { readonly id: string };

  before(async () => {
    api = await experimentApi();
    dataset = await api.dataset('sdk', 3);
  });
  after(() => api?.dispose());

  const create = (more: object = {}) => api.ok('POST', '/v1/evals', { dataset_id: dataset.id, name: 'task', ...more });
  const post = (id: string, ...results: object[]) => api.call('POST', `/v1/evals/${id}/results`, { results });
  const results = (id: string, query = '') => api.ok('GET', `/v1/evals/${id}/results${query}`);

  it('name their dataset, and its version if need be, by ids', async () => {
    const [version] = await api.ok('GET', '/v1/datasets/sdk/versions');
    const made = await create({
      ...{
        project_id: api.server.projectId,
        dataset_version_id: version.id,
        dataset_ref: 'main',
        subset_name: 'default',
      },
      ...{ total_repetitions: 2, config: { t: 0 }, model_id: 'gpt-4o', dataset_commit_sha: null, unknown: 1 },
    });
    expect(made).to.deep.include({
      ...{ dataset_id: dataset.id, dataset_version: 1, name: 'task', status: 'running', total_repetitions: 2 },
      ...{ config: { t: 0 }, model_id: 'gpt-4o', finished_at: null, project_id: api.server.projectId },
    });
    expect(await api.ok('GET', `/v1/evals/${made.id}`)).to.deep.equal(made);
    expect(await api.ok('GET', `~/${made.id}`)).to.deep.include({ subject: { model: 'gpt-4o' }, parameters: { t: 0 } });
    const other = await api.call('POST', '/v1/evals', { dataset_id: dataset.id, name: 'x', project_id: randomUUID() });
    expect([other.status, other.json.errors[0].pointer]).to.deep.equal([422, '/project_id']);
    const large = await api.call('POST', '/v1/evals', {
      dataset_id: dataset.id,
      name: 'x',
      config: { x: 'x'.repeat(262_144) },
    });
    expect([large.status, large.json.errors[0].pointer]).to.deep.equal([422, '/config']);
    expect((await api.call('POST', '/v1/evals', { dataset_id: randomUUID(), name: 'x' })).status).to.equal(404);
  });

  it('have the status that the SDK sets, and are found by it', async () => {
    const { id } = await create({ name: 'status' });
    const found = async (status: string) =>
      (await api.ok('GET', `/v1/evals?dataset_id=${dataset.id}&status=${status}`)).some((each: any) => each.id === id);
    for (const [status, own] of [
      ['scoring', 'running'],
      ['completed', 'finished'],
      ['running', 'running'],
      ['failed', 'finished'],
      ['running', 'running'],
      ['canceled', 'canceled'],
    ] as const) {
      expect((await api.ok('PATCH', `/v1/evals/${id}`, { status })).status).to.equal(status);
      expect((await api.ok('GET', `~/${id}`)).status, status).to.equal(own);
      expect(await found(status), status).to.equal(true);
      expect(await found(status === 'failed' ? 'completed' : 'failed'), status).to.equal(false);
    }
    expect((await api.call('PATCH', `/v1/evals/${id}`, { status: 'running' })).status).to.equal(409);
    expect((await post(id, { row_id: 'r1', result: null })).status).to.equal(409);
  });

  it('take results also when they are completed, and more repetitions', async () => {
    const { id } = await create({ name: 'again' });
    await api.ok('PATCH', `/v1/evals/${id}`, { status: 'completed' });
    const changed = await api.ok('PATCH', `/v1/evals/${id}`, { total_repetitions: 2, description: 'two' });
    expect(changed).to.include({ total_repetitions: 2, description: 'two', status: 'completed' });
    const trace = randomUUID();
    const sent = await post(
      id,
      { row_id: 'r1', result: { pred: 'x', _runtime: { attempt: 2 } }, trace_id: trace, repetition_number: 3 },
      { row_id: 'r2', result: { _runtime: { error: 'No', error_code: 'ValueError' } }, trace_id: '' },
      { row_id: 'r3', result: null, trace_id: null, repetition_number: 1 },
    );
    expect(sent.json.map(({ row_id }: any) => row_id)).to.deep.equal(['r1', 'r2', 'r3']);
    const [one, two, three] = await results(id);
    expect(one).to.deep.include({
      row_id: 'r1',
      result: { pred: 'x' },
      trace_id: trace,
      repetition_number: 3,
      has_error: false,
    });
    expect(two).to.deep.include({ row_id: 'r2', result: null, has_error: true });
    expect(three).to.deep.include({ row_id: 'r3', result: null, has_error: false });
    expect(await results(id, '?repetition=3')).to.deep.equal([one]);
    expect(await results(id, '?limit=1&offset=1')).to.deep.equal([two]);
    const span = await api.ok('GET', `/spans/${two.id}`);
    expect(span).to.include({ status: 'error', error_message: 'No', error_code: 'ValueError' });
    expect((await api.ok('GET', `/spans/${one.id}`)).attributes['spanhouse.experiment.attempt']).to.equal(2);
    expect(await api.ok('GET', `~/${id}`)).to.include({ status: 'finished', repetitions: 3 });
    expect((await post(id, { row_id: 'r1', result: {}, repetition_number: 33 })).status).to.equal(422);
  });

  it('find rows by their places, and keep results of others as they are', async () => {
    const { id } = await create({ name: 'places' });
    const sent = await post(
      id,
      { row_id: '1', result: { a: 1 } },
      { row_id: 0, result: 'text' },
      { row_id: '7', result: [1] },
    );
    expect(sent.json.map(({ row_id }: any) => row_id)).to.deep.equal(['1', '0', '7']);
    const found = await results(id);
    expect(found.map(({ row_id, result }: any) => [row_id, result])).to.deep.equal([
      ['7', { output: '[1]' }],
      ['r1', { output: 'text' }],
      ['r2', { a: 1 }],
    ]);
    expect(found.map((each: any) => each.id)).to.have.members(sent.json.map((each: any) => each.id));
    expect((await api.ok('GET', `/spans/${found[0].id}`)).input_data).to.equal(null);
    expect((await api.ok('GET', `/spans/${found[2].id}`)).input_data).to.equal('{"id":"r2","question":"Question 2"}');
    const { missing } = await api.ok('GET', `~/${id}/missing`);
    expect(missing).to.deep.equal([{ row_id: 'r3', repetition: 1 }]);
  });

  it('have scorers once, whose scores are scores of the results', async () => {
    const { id } = await create({ name: 'scored' });
    const [one, two, three] = (
      await post(id, ...['r1', 'r2', 'r3'].map((row_id) => ({ row_id, result: { a: row_id } })))
    ).json;
    const draft = { name: 'grader', code: 'def', description: 'd', scoring_mode: 'row', outputs: ['ok', 'why'] };
    const scorer = await api.ok('POST', `/v1/evals/${id}/scorers`, { ...draft, output_formats: { ok: 'number' } });
    expect(scorer).to.deep.include({ ...draft, output_formats: { ok: 'number' } });
    expect((await api.ok('POST', `/v1/evals/${id}/scorers`, { ...draft, code: 'other' })).id).to.equal(scorer.id);
    expect((await api.ok('POST', `/v1/evals/${id}/scorers`, { ...draft, scoring_mode: 'column' })).id).to.not.equal(
      scorer.id,
    );
    const path = `/v1/evals/${id}/scorers/${scorer.id}`;
    const formats = { output_formats: { ok: 'percentage' } };
    expect(await api.ok('PATCH', `${path}/output-formats`, formats)).to.deep.include(formats);
    expect(await api.ok('GET', `/v1/evals/${id}/scorers`)).to.have.length(2);
    const trace = randomUUID();
    const stored = await api.ok('POST', `${path}/scores`, [
      {
        eval_result_id: one.id,
        score_value: '{"ok": true, "why": "a \\"NaN\\"", "n": NaN}',
        score_type: 'json',
        trace_id: trace,
      },
      { eval_result_id: two.id, score_value: '{"ok": false, "why": null}', score_type: 'json' },
      { eval_result_id: three.id, score_value: '0.5', score_type: 'text' },
      { eval_result_id: three.id, score_value: 'None', score_type: 'text' },
    ]);
    expect(stored.map(({ id: score }: any) => score === null)).to.deep.equal([false, false, false, true]);
    const scores = await api.ok('GET', `/scores?entity_id=${one.id}`);
    expect(
      scores.map(({ name, value, source, author, metadata }: any) => ({ name, value, source, author, metadata })),
    ).to.have.deep.members([
      { name: 'ok', value: true, source: 'code', author: 'grader', metadata: { trace_id: trace } },
      { name: 'why', value: 'a "NaN"', source: 'code', author: 'grader', metadata: { trace_id: trace } },
    ]);
    const page = await api.ok('GET', `${path}/scores`);
    expect(page.map(({ eval_result_id, score_value }: any) => [eval_result_id, score_value])).to.deep.equal([
      [one.id, { ok: true, why: 'a "NaN"' }],
      [two.id, { ok: false }],
    ]);
    expect(await api.ok('GET', `${path}/scores?limit=1&offset=1`)).to.deep.equal([page[1]]);
    const { results: own } = await api.ok('GET', `~/${id}/results?row_id=r3`);
    expect(own[0].scores).to.deep.equal({ grader: 0.5 });
    const wrong = await api.call('POST', `${path}/scores`, [
      { eval_result_id: one.id, score_value: '{"ok": true}' },
      { eval_result_id: two.id, score_value: '{"why": 1, "ok": "perhaps"}' },
    ]);
    expect(wrong.status).to.equal(422);
    expect(wrong.json.errors.map(({ pointer }: any) => pointer)).to.include('/1/score_value');
    expect((await api.call('POST', `/v1/evals/${id}/scorers/${randomUUID()}/scores`, [])).status).to.equal(404);
  });

  it('lose a scorer with what it found, and nothing else', async () => {
    const { id } = await create({ name: 'unscored' });
    const stored = (await post(id, { row_id: 'r1', result: 1 }, { row_id: 'r2', result: 2 })).json;
    const scorer = (name: string, more: object = {}) => api.ok('POST', `/v1/evals/${id}/scorers`, { name, ...more });
    const [gone, kept] = [await scorer('gone'), await scorer('kept')];
    const twin = await scorer('gone', { scoring_mode: 'column' });
    const at = ({ id: own }: any) => `/v1/evals/${id}/scorers/${own}`;
    for (const each of [gone, kept])
      await api.ok(
        'POST',
        `${at(each)}/scores`,
        stored.map((result: any) => ({ eval_result_id: result.id, score_value: `{"${each.name}": 1}` })),
      );
    await api.ok('POST', `/v1/evals/${id}/column-metrics`, { metric_name: 'gone', results: { f1: 0.5 } });
    const scores = async () => {
      const { results: all } = await api.ok('GET', `~/${id}/results`);
      return all.map(({ scores: own }: any) => own);
    };
    expect((await api.call('DELETE', at(twin))).status).to.equal(204);
    expect((await api.ok('GET', `/v1/evals/${id}/summary`)).column_metrics).to.deep.equal([]);
    expect(await scores()).to.deep.equal(Array(2).fill({ gone: 1, kept: 1 }));
    const other = makeProject(api.server.dataDir);
    const foreign = await send(`${api.server.url}${at(gone)}`, 'DELETE', { key: other.key });
    expect(foreign.status).to.equal(404);
    expect((await api.call('DELETE', at(gone))).status).to.equal(204);
    expect(await scores()).to.deep.equal(Array(2).fill({ kept: 1 }));
    expect((await api.ok('GET', `/v1/evals/${id}/scorers`)).map(({ name }: any) => name)).to.deep.equal(['kept']);
    expect((await api.call('DELETE', at(gone))).status).to.equal(404);
  });

  it('have pages of large results that end early, and say where the next one begins', async () => {
    const { id } = await create({ name: 'large' });
    // Together more than a page may have.
    for (const row_id of ['r1', 'r2']) await post(id, { row_id, result: 'x'.repeat(17_000_000) });
    await post(id, { row_id: 'r3', result: 'x' });
    const first = await api.call('GET', `/v1/evals/${id}/results?limit=3`);
    expect([first.status, first.json.length, first.headers.get('x-next-offset')]).to.deep.equal([200, 1, '1']);
    const { results: page, ...said } = await api.ok('GET', `~/${id}/results?limit=3&offset=1`);
    expect([page.length, said]).to.deep.equal([2, { total: 3, limit: 3, offset: 1, next_offset: null }]);
  });

  it('keep figures as the client states them', async () => {
    const { id } = await create({ name: 'figures' });
    const state = (kind: string, body: object) => api.ok('POST', `/v1/evals/${id}/${kind}`, body);
    await state('column-metrics', {
      metric_name: 'f1',
      run_number: 2,
      results: { f1: 0.5 },
      output_formats: { f1: 'number' },
    });
    await state('column-metrics', { metric_name: 'f1', repetition_number: 2, results: { f1: 0.75 } });
    await state('eval-metrics', { metric_name: 'pass', total_runs: 2, results: { pass: null } });
    const { column_metrics, eval_metrics, figures } = await api.ok('GET', `/v1/evals/${id}/summary`);
    expect(column_metrics).to.have.length(1);
    expect(column_metrics[0]).to.deep.include({
      metric_name: 'f1',
      run_number: 2,
      results: { f1: 0.75 },
      output_formats: {},
    });
    expect(eval_metrics[0]).to.deep.include({ metric_name: 'pass', run_number: null, results: { pass: null } });
    expect(figures).to.include({ results: 0 });
    const large = await api.call('POST', `/v1/evals/${id}/eval-metrics`, {
      metric_name: 'x',
      results: { x: 'x'.repeat(65_536) },
    });
    expect([large.status, large.json.errors[0].pointer]).to.deep.equal([422, '/results']);
  });

  it('are of one project alone', async () => {
    const { id } = await create({ name: 'own' });
    const { key } = makeProject(api.server.dataDir);
    for (const path of [id, `${id}/summary`, `${id}/results`, `${id}/scorers`])
      expect((await send(`${api.server.url}/v1/evals/${path}`, 'GET', { key })).status, path).to.equal(404);
    expect((await send(`${api.server.url}/v1/evals`, 'GET', { key })).json).to.deep.equal([]);
    const body = { results: [{ row_id: 'r1', result: null }] };
    expect((await send(`${api.server.url}/v1/evals/${id}/results`, 'POST', { key, body })).status).to.equal(404);
  });
});
