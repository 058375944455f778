import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../engine/contract/contract.js';
import { datasetApi, type DatasetApi } from './dataset-api.js';

describe('rows of datasets that are made of spans', () => {
  let api: DatasetApi;
  const trace_id = randomUUID();
  const ids = Array.from({ length: 20 }, () => randomUUID());
  const at = (index: number) => new Date(Date.UTC(2026, 0, 15, 10, index)).toISOString();

  before(async () => {
    api = await datasetApi({ env: { RETENTION_INTERVAL_SECONDS: '1' } });
    const spans = ids.map((id, index) => ({
      ...{ id, trace_id, name: 'answer', kind: 'llm', started_at: at(index) },
      attributes: { model: index < 15 ? 'large' : 'small', provider: 'openai', topic: `topic ${index}` },
      ...(index === 19 ? {} : { input_data: `question ${index}`, output_data: `answer ${index % 18}` }),
    }));
    await api.server.request('POST', '/spans', { body: spans });
    await api.ok('POST', '', { name: 'set' });
  });
  after(() => api?.dispose());

  const add = (body: object, name = 'set') => api.ok('POST', `/${name}/rows:from_spans`, body);
  const mapping = { question: 'input_data', topic: 'attributes.topic' };

  it('are looked at ahead, chosen by a seed, and share a sample by a field', async () => {
    const ask = { query: 'span_kind=llm', mapping, sample: 8, seed: 'one', stratify_by: 'model', dry_run: true };
    const look = await add(ask);
    expect(look).to.include({ matched: 20, rows: 8, version: null });
    expect(look.preview).to.have.length(5);
    expect((await add(ask)).preview).to.deep.equal(look.preview);
    expect((await add({ ...ask, seed: 'two' })).preview).not.to.deep.equal(look.preview);
    expect((await api.call('GET', '/set/data')).status).to.equal(404);
  });

  it('are in a dataset once, have the ids of their spans, and say nothing twice', async () => {
    const first = await add({ query: 'span_kind=llm', mapping: { question: 'input_data', answer: 'output_data' } });
    expect(first).to.include({ matched: 20, rows: 19, empty: 1, duplicates: 0 });
    expect(first.version).to.include({ version_number: 1, row_count: 19 });
    const again = await add({ query: 'span_kind=llm', mapping: { question: 'input_data', answer: 'output_data' } });
    expect(again).to.include({ rows: 0, existing: 19, version: null });
    await api.ok('POST', '', { name: 'answers' });
    expect(await add({ span_ids: ids, mapping: { answer: 'output_data' } }, 'answers')).to.include({
      rows: 18,
      duplicates: 1,
      empty: 1,
    });
    const { rows } = await api.ok('GET', '/set/data?limit=100');
    const newest = rows[0];
    expect(newest).to.deep.include({ row_id: ids[18], source: { trace_id, span_id: ids[18] } });
    expect(newest.data).to.deep.equal({ question: 'question 18', answer: 'answer 0' });
  });

  it('refuse what is no field, and a query with a mistake', async () => {
    const errors = async (body: object) =>
      (await api.call('POST', '/set/rows:from_spans', body)).json.errors[0].pointer;
    expect(await errors({ query: '', mapping: { x: 'nothing' } })).to.equal('/mapping/x');
    expect(await errors({ query: '', mapping: { row_id: 'name' } })).to.equal('/mapping/row_id');
    expect(await errors({ query: '', mapping, stratify_by: 'input_data' })).to.equal('/stratify_by');
    expect(await errors({ mapping })).to.equal('/query');
    expect(await errors({ query: 'limit=x', mapping })).to.equal('?limit');
  });

  it('go with their spans from every version', async () => {
    const gone = ids[3] ?? '';
    // Edited by hand, it is still the row of its span.
    await api.ok('POST', '/set/versions', { mode: 'merge', rows: [{ row_id: gone, question: 'question 3, edited' }] });
    const { bytes } = await api.ok('GET', '/set');
    expect((await api.server.request('DELETE', `/spans/${gone}`)).status).to.equal(204);
    await eventually(async () => {
      expect((await api.rows('set')).map(({ row_id }) => row_id)).not.to.include(gone);
    });
    for (const ref of ['1', '2']) expect(await api.rows('set', ref), ref).to.have.length(18);
    const set = await api.ok('GET', '/set');
    expect(set.latest_version).to.include({ row_count: 19 });
    expect(set.bytes).to.be.lessThan(bytes);
    expect((await api.ok('GET', '/set/diff?from=1&to=2')).rows).to.deep.equal([]);
  });

  it('stay when retention removes their traces', async () => {
    const keep = { body: { retention_days: 1 } };
    await api.server.request('PATCH', `/projects/${api.server.projectId}`, keep);
    const spans = async () => (await api.server.request('GET', '/spans?limit=1')).json;
    await eventually(async () => {
      expect(await spans()).to.deep.equal([]);
    });
    expect(await api.rows('set')).to.have.length(18);
  });
});
