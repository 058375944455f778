import { expect } from 'chai';
import { makeProject } from '../harness/projects.js';
import { send } from '../harness/server.js';
import { datasetApi, type DatasetApi } from './dataset-api.js';

describe('datasets', () => {
  let api: DatasetApi;

  before(async () => {
    api = await datasetApi();
  });
  after(() => api?.dispose());

  it('have names with slashes, by which and by their ids they are found', async () => {
    const made = await api.ok('POST', '', { name: 'a/b c/d', description: 'one', roles: { q: 'input' } });
    expect(made).to.include({ name: 'a/b c/d', slug: 'a/b c/d', description: 'one', latest_version: null });
    for (const path of ['/a/b%20c/d', '/a%2Fb%20c%2Fd', `/${made.id}`, `/${api.server.projectId}/a/b c/d`])
      expect((await api.ok('GET', path)).id, path).to.equal(made.id);
    expect((await api.call('POST', '', { slug: 'a/b c/d' })).status).to.equal(409);
    expect((await api.call('GET', '/a/b')).status).to.equal(404);
  });

  it('refuse names that would be taken for something else', async () => {
    for (const name of [
      '..',
      'a/../b',
      ' b',
      'a/b ',
      'a/data',
      'versions',
      'a//b',
      '/a',
      'a/',
      'tags/x',
      '0197f3a0-0000-7000-8000-000000000001/x',
      'é',
      'x'.repeat(129),
      '',
    ])
      expect((await api.call('POST', '', { name })).status, name).to.equal(422);
    expect((await api.call('POST', '', {})).json.errors[0].pointer).to.equal('/name');
  });

  it('are listed, renamed and deleted', async () => {
    await api.ok('POST', '', { name: 'list/one' });
    await api.ok('POST', '', { name: 'list/two' });
    await api.ok('POST', '/list/two/versions', { rows: [{ id: 1 }] });
    const names = async () => (await api.ok('GET', '?q=LIST/')).map(({ name }: { name: string }) => name);
    expect(await names()).to.deep.equal(['list/one', 'list/two']);
    expect(
      (await api.ok('PATCH', '/list/two', { name: 'list/three', roles: { id: 'metadata' } })).latest_version
        .version_number,
    ).to.equal(1);
    expect((await api.call('PATCH', '/list/three', { name: 'list/one' })).status).to.equal(409);
    expect((await api.call('DELETE', '/list/three')).status).to.equal(204);
    expect(await names()).to.deep.equal(['list/one']);
    expect((await api.call('GET', '/list/three/data')).status).to.equal(404);
    // The name is free again, and nothing of the old rows is there.
    await api.ok('POST', '', { name: 'list/three' });
    expect((await api.call('GET', '/list/three/data')).status).to.equal(404);
  });

  it('have tags that point at versions, with their history', async () => {
    await api.ok('POST', '', { name: 'tagged' });
    await api.ok('POST', '/tagged/versions', { rows: [{ id: 1 }] });
    await api.ok('POST', '/tagged/versions', { rows: [{ id: 2 }] });
    await api.ok('POST', '/tagged/tags/production:pin', { version_number: 1 });
    expect(await api.ok('GET', '/tagged/tags')).to.deep.equal([
      { tag: 'latest', version_number: 2 },
      { tag: 'production', version_number: 1 },
    ]);
    expect(await api.rows('tagged', 'production')).to.deep.equal([{ row_id: '1', id: 1 }]);
    await api.ok('POST', '/tagged/tags/production:pin', { version_number: 2 });
    expect((await api.call('DELETE', '/tagged/tags/production')).status).to.equal(204);
    const history = await api.ok('GET', '/tagged/tags/production/history');
    expect(history.map(({ version_number }: any) => version_number)).to.deep.equal([null, 2, 1]);
    expect((await api.call('GET', '/tagged/data/production')).status).to.equal(404);
    for (const tag of ['latest', '7'])
      expect((await api.call('POST', `/tagged/tags/${tag}:pin`, { version_number: 1 })).status, tag).to.equal(409);
    expect((await api.call('POST', '/tagged/tags/x:pin', { version_number: 9 })).status).to.equal(404);
  });

  it('are of one project alone', async () => {
    const made = await api.ok('POST', '', { name: 'own' });
    await api.ok('POST', '/own/versions', { rows: [{ id: 1 }] });
    const { key } = makeProject(api.server.dataDir);
    for (const path of ['own', made.id, `${api.server.projectId}/own`])
      expect((await send(`${api.server.url}/v1/datasets/${path}`, 'GET', { key })).status).to.equal(404);
  });
});
