import { expect } from 'chai';
import { makeProject } from '../harness/projects.js';
import { send } from '../harness/server.js';
import { experimentApi, type ExperimentApi } from './experiment-api.js';

describe('experiments', () => {
  let api: ExperimentApi;

  before(async () => {
    api = await experimentApi();
  });
  after(() => api?.dispose());

  const pointers = async (method: string, path: string, body: unknown) => {
    const { status, json } = await api.call(method, path, body);
    return [status, ...(json?.errors ?? []).map(({ pointer }: { pointer: string }) => pointer)];
  };

  it('try one version of a dataset, by its number or a tag', async () => {
    const { id } = await api.dataset('pinned', 3);
    await api.ok('POST', '/v1/datasets/pinned/tags/production:pin', { version_number: 1 });
    await api.ok('POST', '/v1/datasets/pinned/versions', { rows: [{ id: 'only' }] });
    const made = await api.create('pinned', {
      dataset_version: 'production',
      description: 'why',
      parameters: { t: 0 },
    });
    expect(made).to.deep.include({
      ...{
        name: 'trial',
        description: 'why',
        dataset: { id, name: 'pinned', gone: false },
        dataset_version: 1,
        rows: 3,
      },
      ...{ repetitions: 1, subject: {}, parameters: { t: 0 }, status: 'running', finished_at: null, tags: [] },
    });
    expect(made.figures).to.deep.include({ results: 0, errors: 0, cost: null, scores: [] });
    expect(await api.ok('GET', `~/${made.id}`)).to.deep.equal({ ...made, judges: [] });
    expect(await api.create('pinned')).to.include({ dataset_version: 2, rows: 1 });
    expect(await api.create(id, { dataset_version: 1 })).to.include({ dataset_version: 1 });
    expect((await api.call('POST', '~', { name: 'x', dataset: 'pinned', dataset_version: 9 })).status).to.equal(404);
    expect((await api.call('POST', '~', { name: 'x', dataset: 'nowhere' })).status).to.equal(404);
  });

  it('have bounds', async () => {
    await api.dataset('bounds', 1);
    const sound = { name: 'x', dataset: 'bounds' };
    expect(await pointers('POST', '~', { ...sound, name: 'x'.repeat(201) })).to.deep.equal([422, '/name']);
    expect(await pointers('POST', '~', { ...sound, repetitions: 33 })).to.deep.equal([422, '/repetitions']);
    expect(await pointers('POST', '~', { ...sound, subject: { note: 'x'.repeat(16_384) } })).to.deep.equal([
      422,
      '/subject',
    ]);
    expect(await pointers('POST', '~', { ...sound, subject: { commit: 1 } })).to.deep.equal([422, '/subject/commit']);
    expect(await pointers('POST', '~', { ...sound, parameters: { x: 'x'.repeat(262_144) } })).to.deep.equal([
      422,
      '/parameters',
    ]);
    expect(await pointers('POST', '~', { ...sound, other: 1 })).to.deep.equal([422, '/other']);
  });

  it('are listed, newest first, by what they try', async () => {
    const { id: dataset } = await api.dataset('listed', 1);
    await api.create('listed', {
      name: 'One',
      subject: { commit: 'abc', branch: 'main', dirty: true, model: 'm', extra: [1] },
    });
    const two = await api.create('listed', { name: 'Two', subject: { prompt_slug: 'support', branch: 'main' } });
    await api.ok('POST', `~/${two.id}:finish`);
    const names = async (query: string) => {
      const { experiments, total } = await api.ok('GET', `~?dataset=listed${query}`);
      expect(total, query).to.equal(experiments.length);
      return experiments.map(({ name }: { name: string }) => name);
    };
    expect(await names('')).to.deep.equal(['Two', 'One']);
    expect(await names('&q=ON')).to.deep.equal(['One']);
    expect(await names('&name=One')).to.deep.equal(['One']);
    expect(await names('&name=on')).to.deep.equal([]);
    expect(await names('&status=running')).to.deep.equal(['One']);
    expect(await names('&status=finished')).to.deep.equal(['Two']);
    expect(await names('&branch=main')).to.deep.equal(['Two', 'One']);
    expect(await names('&commit=abc')).to.deep.equal(['One']);
    expect(await names('&prompt=support')).to.deep.equal(['Two']);
    const page = await api.ok('GET', `~?dataset=${dataset}&limit=1&offset=1`);
    expect(page).to.include({ total: 2, limit: 1, offset: 1 });
    expect(page.experiments[0].subject).to.deep.equal({
      commit: 'abc',
      branch: 'main',
      dirty: true,
      model: 'm',
      extra: [1],
    });
  });

  it('are finished or canceled once', async () => {
    await api.dataset('ended', 1);
    const [one, two] = [await api.create('ended'), await api.create('ended')];
    const done = await api.ok('POST', `~/${one.id}:finish`);
    expect(done.status).to.equal('finished');
    expect((await api.ok('POST', `~/${one.id}:finish`)).finished_at).to.equal(done.finished_at);
    expect((await api.call('POST', `~/${one.id}:cancel`)).status).to.equal(409);
    expect((await api.ok('POST', `~/${two.id}:cancel`)).status).to.equal('canceled');
    expect((await api.call('POST', `~/${two.id}:finish`)).status).to.equal(409);
    expect((await api.call('POST', `~/${two.id}/results`, { row_id: 'r1', output_data: 'x' })).status).to.equal(409);
    expect((await api.call('PATCH', `~/${one.id}`, { repetitions: 2 })).status).to.equal(409);
    const changed = await api.ok('PATCH', `~/${one.id}`, { name: 'new', description: 'd', subject: { branch: 'b' } });
    expect(changed).to.deep.include({ name: 'new', description: 'd', subject: { branch: 'b' }, repetitions: 1 });
  });

  it('have tags that point at one of a dataset, with their history', async () => {
    await api.dataset('tagged', 1);
    await api.dataset('tagged-too', 1);
    const [one, two, other] = [await api.create('tagged'), await api.create('tagged'), await api.create('tagged-too')];
    const tags = async ({ id }: { id: string }) => (await api.ok('GET', `~/${id}`)).tags;
    await api.ok('POST', `~/${one.id}/tags/baseline:pin`);
    await api.ok('POST', `~/${other.id}/tags/baseline:pin`);
    const pinned = await api.ok('POST', `~/${two.id}/tags/baseline:pin`);
    expect(pinned).to.deep.equal({ tag: 'baseline', experiment_id: two.id, dataset_id: two.dataset.id });
    expect([await tags(one), await tags(two), await tags(other)]).to.deep.equal([[], ['baseline'], ['baseline']]);
    const found = (await api.ok('GET', '~?tag=baseline')).experiments.map(({ id }: { id: string }) => id);
    expect(found).to.deep.equal([other.id, two.id]);
    expect((await api.call('DELETE', `~/${one.id}/tags/baseline`)).status).to.equal(404);
    await api.ok('DELETE', `~/${two.id}/tags/baseline`);
    await api.ok('POST', `~/${two.id}/tags/baseline:pin`);
    await api.ok('DELETE', `~/${two.id}`);
    const history = await api.ok('GET', `~/${one.id}/tags/baseline/history`);
    expect(history.map(({ experiment }: any) => experiment)).to.deep.equal([
      null,
      { id: two.id, name: null },
      null,
      { id: two.id, name: null },
      { id: one.id, name: 'trial' },
    ]);
    expect((await api.call('GET', `~/${one.id}/tags/none/history`)).status).to.equal(404);
  });

  it('outlive their dataset', async () => {
    await api.dataset('short', 1);
    const { id } = await api.create('short');
    await api.ok('POST', `~/${id}/results`, { row_id: 'r1', output_data: 'x' });
    await api.ok('PATCH', '/v1/datasets/short', { name: 'shorter' });
    expect((await api.ok('GET', `~/${id}`)).dataset).to.include({ name: 'shorter', gone: false });
    await api.ok('DELETE', '/v1/datasets/shorter');
    expect(await api.ok('GET', `~/${id}`)).to.deep.include({ dataset_version: 1, rows: 1 });
    expect((await api.ok('GET', `~/${id}`)).dataset).to.include({ name: 'short', gone: true });
    expect((await api.ok('GET', `~/${id}/results`)).total).to.equal(1);
    expect((await api.call('POST', `~/${id}/results`, { row_id: 'r1', output_data: 'y' })).status).to.equal(409);
    expect(await api.ok('GET', `~/${id}/missing`)).to.deep.include({ missing: [], total: 0 });
    expect((await api.ok('POST', `~/${id}:finish`)).status).to.equal('finished');
  });

  it('are of one project alone', async () => {
    await api.dataset('own', 1);
    const { id } = await api.create('own');
    const { key, projectId } = makeProject(api.server.dataDir);
    for (const path of [`experiments/${id}`, `experiments/${id}/results`, `experiments/${id}/missing`])
      expect((await send(`${api.server.url}/projects/${projectId}/${path}`, 'GET', { key })).status, path).to.equal(
        404,
      );
    expect((await send(`${api.server.url}/projects/${projectId}/experiments`, 'GET', { key })).json.total).to.equal(0);
  });
});
