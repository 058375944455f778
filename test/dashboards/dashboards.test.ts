import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import { span, type Row } from '../harness/checked-api.js';
import { freshIds, importInto, importNew, madeRecords } from '../transfer/made-records.js';
import { makeProject } from '../harness/projects.js';
import { send, type TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { MAX_CHARTS, MAX_DASHBOARDS } from '../../src/features/dashboards/schema.js';

const CHART = { title: 'Cost', list: 'spans', measures: ['cost'], kind: 'bars' } as const;

describe('dashboards', () => {
  let server: TestServer;
  let document: ApiDocument;
  let path: string;

  before(async () => {
    server = await sharedServer();
    document = await ApiDocument.of(server);
    path = `/projects/${server.projectId}/dashboards`;
  });
  after(() => server.dispose());

  async function answer(status: number, method: string, of: string, body?: unknown): Promise<Row> {
    const response = await server.request(method, of, body === undefined ? {} : { body });
    document.check(method, of, response);
    expect(response.status, response.text).to.equal(status);
    return response.json as Row;
  }
  const refused = async (chart: object, more: object = {}): Promise<Record<string, string>> => {
    const body = { name: 'refused', charts: [CHART, { ...CHART, ...chart }], ...more };
    const { errors } = await answer(422, 'POST', path, body);
    return Object.fromEntries((errors as Row[]).map(({ pointer, detail }) => [pointer, detail]));
  };

  it('keep charts in their order, which :stats then answers', async () => {
    await answer(200, 'POST', '/spans', [span(1, { kind: 'llm', cost: 2, name: 'call' })]);
    const charts = [
      CHART,
      { ...CHART, title: 'By name', query: 'span_kind=llm', group_by: 'name', bucket: '1h', kind: 'lines' },
      {
        ...CHART,
        title: 'Levels',
        list: 'traces',
        measures: ['count', 'scores.a,b'],
        group_by: 'tags.env',
        kind: 'table',
      },
    ];
    const made = await answer(201, 'POST', path, { name: 'Costs', charts });
    const usual = { query: '', group_by: null, bucket: null };
    expect(made).to.include({ name: 'Costs', window: '24h', version: 1 });
    expect(made['charts']).to.deep.equal(charts.map((chart) => ({ ...usual, ...chart })));
    expect(await answer(200, 'GET', `${path}/${made['id']}`)).to.deep.equal(made);
    const { charts: _charts, ...summary } = made;
    expect(await answer(200, 'GET', path)).to.deep.equal([{ ...summary, chart_count: 3 }]);
    const stats = await answer(200, 'GET', '/spans:stats?span_kind=llm&measures=cost&group_by=name');
    expect(stats['groups'][0]).to.deep.include({ value: 'call', totals: { cost: 2 } });
  });

  it('are changed by whoever has read the newest version', async () => {
    const { id } = await answer(201, 'POST', path, { name: 'Together', window: '7d' });
    const at = `${path}/${id}`;
    const first = await answer(200, 'PATCH', at, { version: 1, charts: [CHART] });
    expect(first).to.include({ version: 2, window: '7d' });
    const late = await answer(409, 'PATCH', at, { version: 1, charts: [] });
    expect(late['detail']).to.include('has version 2 by now, not 1');
    expect(await answer(200, 'GET', at)).to.deep.equal(first);
    expect(await answer(200, 'PATCH', at, { name: 'Renamed' })).to.include({ version: 3, name: 'Renamed' });
    await answer(201, 'POST', path, { name: 'Other' });
    expect((await answer(409, 'PATCH', at, { name: 'Other' }))['detail']).to.include('has this name');
    const audit = await server.request('GET', '/audit?action=dashboard.update&limit=1');
    expect(audit.json.entries[0]).to.include({ object_id: id, object_name: 'Renamed' });
    await answer(204, 'DELETE', at);
    for (const method of ['GET', 'DELETE']) await answer(404, method, at);
    await answer(404, 'PATCH', at, { name: 'Gone' });
  });

  it('have no chart that :stats would refuse', async () => {
    expect((await refused({ measures: ['nothing'] }))['/charts/1/measures']).to.include('must');
    expect(await refused({ measures: [] })).to.have.all.keys('/charts/1/measures');
    expect(await refused({ list: 'sessions', measures: ['count'], group_by: 'model' })).to.have.all.keys(
      '/charts/1/group_by',
    );
    expect(await refused({ bucket: 'often' })).to.have.all.keys('/charts/1/bucket');
    expect((await refused({ bucket: '1m' }, { window: '7d' }))['/charts/1/bucket']).to.include('1000 buckets');
    expect((await refused({ query: 'duration_min=long' }))['/charts/1/query']).to.include('?duration_min');
    expect((await refused({ query: 'group_by=name' }))['/charts/1/query']).to.include('?group_by');
    expect((await refused({ query: 'started_after=7d' }))['/charts/1/query']).to.include('by the start');
    expect(await refused({ kind: 'pie' })).to.have.all.keys('/charts/1/kind');
    expect(await refused({ title: '' })).to.have.all.keys('/charts/1/title');
    for (const window of ['all', '0d', '24', '9999w'])
      expect(await refused({}, { window }), window).to.have.all.keys('/window');
  });

  it('are bounded in number and size, and seen by their project alone', async () => {
    const charts = (length: number) => Array.from({ length }, () => CHART);
    expect(await refused({}, { charts: charts(MAX_CHARTS + 1) })).to.have.all.keys('/charts');
    const large = charts(MAX_CHARTS).map((chart) => ({ ...chart, query: `q=${'x'.repeat(3_000)}` }));
    expect(await refused({}, { charts: large })).to.include.keys('/charts');
    const of = { url: server.url, ...makeProject(server.dataDir) };
    const there = `/projects/${of.projectId}/dashboards`;
    const post = (name: string) => send(server.url + there, 'POST', { key: of.key, body: { name } });
    const made = await post('0');
    expect((await post('0')).status).to.equal(409);
    const record = () => madeRecords(freshIds(), { id: randomUUID(), name: 'Ann' }).dashboards;
    await importNew(of, 'dashboards', Array.from({ length: MAX_DASHBOARDS - 1 }, record));
    expect((await importInto(of, 'dashboards', [record()])).status).to.equal(409);
    expect((await post('more')).json.detail).to.equal('A project has at most 100 dashboards: delete one first');
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(
        (await server.request(method, `${path}/${made.json.id}`, method === 'PATCH' ? { body: {} } : {})).status,
        method,
      ).to.equal(404);
    expect((await server.request('GET', there)).status).to.equal(403);
  });
});
