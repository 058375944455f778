import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import { uuid, type Row } from '../harness/checked-api.js';
import { freshIds, importInto, importNew, madeRecords } from '../transfer/made-records.js';
import { makeProject } from '../harness/projects.js';
import { send, type TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { MAX_SAVED_VIEWS } from '../../src/features/saved-views/schema.js';

describe('saved views', () => {
  let server: TestServer;
  let document: ApiDocument;
  let path: string;

  before(async () => {
    server = await sharedServer();
    document = await ApiDocument.of(server);
    path = `/projects/${server.projectId}/saved-views`;
  });
  after(() => server.dispose());

  async function answer(status: number, method: string, of: string, body?: unknown): Promise<Row> {
    const response = await server.request(method, of, body === undefined ? {} : { body });
    document.check(method, of, response);
    expect(response.status, response.text).to.equal(status);
    return response.json as Row;
  }
  const refused = async (body: object): Promise<Record<string, string>> => {
    const { errors } = await answer(422, 'POST', path, { name: 'refused', list: 'spans', ...body });
    return Object.fromEntries((errors as Row[]).map(({ pointer, detail }) => [pointer, detail]));
  };

  it('keep a list with filters, order and columns, which the list then answers', async () => {
    const query = 'status=error&started_after=7d&sort_by=cost&sort_order=asc&tags.env=a%2Cb&scores.level=0.5..1';
    const columns = ['name', 'tags.env', 'scores.level', 'cost'];
    const made = await answer(201, 'POST', path, { name: 'Failed', list: 'spans', query, columns });
    expect(made).to.include({ name: 'Failed', list: 'spans', query }).and.deep.include({ columns });
    expect(await answer(200, 'GET', `${path}/${made['id']}`)).to.deep.equal(made);
    expect(await answer(200, 'GET', `/spans?${made['query']}`)).to.deep.equal([]);
    const plain = await answer(201, 'POST', path, { name: 'All', list: 'sessions' });
    expect(plain).to.include({ query: '', columns: null });
    const named = (await answer(200, 'GET', path)) as unknown as Row[];
    expect(named.map(({ name }) => name)).to.deep.equal(['All', 'Failed']);
    const changed = await answer(200, 'PATCH', `${path}/${made['id']}`, { name: 'Costly', columns: null, query: '' });
    expect(changed).to.include({ id: made['id'], name: 'Costly', query: '', columns: null });
    expect(changed['updated_at'] >= made['updated_at']).to.equal(true);
    await answer(204, 'DELETE', `${path}/${made['id']}`);
    await answer(404, 'GET', `${path}/${made['id']}`);
    await answer(404, 'PATCH', `${path}/${made['id']}`, { name: 'Gone' });
    await answer(404, 'DELETE', `${path}/${uuid(1)}`);
  });

  it('are refused where the list could not be read so', async () => {
    expect(await refused({ query: 'duration_min=long' })).to.have.all.keys('/query');
    expect((await refused({ query: 'sort_by=nothing' }))['/query']).to.include('?sort_by must be one of');
    expect((await refused({ query: 'limit=5' }))['/query']).to.include('?limit');
    expect((await refused({ query: 'measures=count' }))['/query']).to.include('?measures');
    expect((await refused({ list: 'sessions', query: 'span_kind=llm' }))['/query']).to.include('filters spans');
    expect(await refused({ columns: ['name', 'nothing', 'tags.'] })).to.have.all.keys('/columns/1', '/columns/2');
    expect(await refused({ columns: ['name', 'name'] })).to.have.all.keys('/columns');
    expect(await refused({ query: `q=${'x'.repeat(4_000)}` })).to.have.all.keys('/query');
    const long = Array.from({ length: 50 }, (_none, index) => `tags.${index}`.padEnd(100, 'x'));
    expect((await refused({ columns: long }))['/columns']).to.include('4000 characters together');
    expect(await refused({ list: 'prompts' })).to.have.all.keys('/list');
  });

  it('have names of their own, and are as many as a project may have', async () => {
    const of = { url: server.url, ...makeProject(server.dataDir) };
    const there = `/projects/${of.projectId}/saved-views`;
    const post = (name: string) => send(server.url + there, 'POST', { key: of.key, body: { name, list: 'traces' } });
    const made = await post('0');
    expect(made.status).to.equal(201);
    const record = () => madeRecords(freshIds(), { id: randomUUID(), name: 'Ann' }).saved_views;
    await importNew(of, 'saved_views', [{ ...record(), name: '1' }]);
    expect((await post('0')).json.detail).to.equal(
      'Another saved view of the project has this name: choose another name',
    );
    await importNew(of, 'saved_views', Array.from({ length: MAX_SAVED_VIEWS - 2 }, record));
    expect((await importInto(of, 'saved_views', [record()])).status).to.equal(409);
    const full = await post('more');
    expect([full.status, full.json.detail]).to.deep.equal([
      409,
      'A project has at most 500 saved views: delete one first',
    ]);
    const patch = { key: of.key, body: { name: '1' } };
    expect((await send(`${server.url}${there}/${made.json.id}`, 'PATCH', patch)).status).to.equal(409);
    for (const [method, at] of [
      ['GET', `${path}/${made.json.id}`],
      ['PATCH', `${path}/${made.json.id}`],
      ['DELETE', `${path}/${made.json.id}`],
    ] as const)
      expect((await server.request(method, at, method === 'PATCH' ? { body: {} } : {})).status, method).to.equal(404);
    expect((await server.request('GET', there)).status).to.equal(403);
  });
});
