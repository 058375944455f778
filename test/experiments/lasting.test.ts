import { expect } from 'chai';
import { withDatabase } from '../feedback/feedback-api.js';
import { experimentApi, type ExperimentApi } from './experiment-api.js';

const DAY_MICROS = 24 * 60 * 60 * 1e6;

describe('experiments over time', () => {
  let api: ExperimentApi;

  before(async () => {
    // A server of its own, to be restarted.
    api = await experimentApi({});
  });
  after(() => api?.dispose());

  const status = async (id: string) => (await api.ok('GET', `~/${id}`)).status;
  const age = (id: string) =>
    withDatabase(api.server, (db) =>
      db.prepare('UPDATE experiments SET active_at = active_at - ? WHERE id = ?').run(DAY_MICROS + 1e6, id),
    );

  it('expire without results, and go on with the next one', async () => {
    await api.dataset('expires', 1);
    const { id } = await api.create('expires');
    age(id);
    expect(await status(id)).to.equal('expired');
    expect((await api.ok('GET', '~?dataset=expires&status=expired')).total).to.equal(1);
    expect((await api.ok('GET', '~?dataset=expires&status=running')).total).to.equal(0);
    await api.ok('POST', `~/${id}/results`, { row_id: 'r1', output_data: 'x' });
    expect(await status(id)).to.equal('running');
    age(id);
    // Its result is newer than what is noted, as one would be that a client marked itself.
    expect(await status(id)).to.equal('running');
    await api.ok('POST', `~/${id}:finish`);
    age(id);
    expect(await status(id)).to.equal('finished');
  });

  it('are removed with their results by the next start, when a stop cuts that off', async () => {
    await api.dataset('cut', 1);
    const { id } = await api.create('cut');
    const [{ id: result }] = await api.ok('POST', `~/${id}/results`, { row_id: 'r1', output_data: 'x' });
    withDatabase(api.server, (db) => db.prepare('UPDATE experiments SET deleted_at = 1 WHERE id = ?').run(id));
    expect((await api.call('GET', `~/${id}`)).status).to.equal(404);
    expect((await api.call('GET', `/spans/${result}`)).status).to.equal(200);
    const { dataDir } = api.server;
    await api.server.stop();
    api = await experimentApi({ dataDir });
    for (let tries = 0; tries < 100; tries += 1) {
      const left = withDatabase(api.server, (db) => db.prepare('SELECT 1 FROM experiments WHERE id = ?').get(id));
      if (left === undefined) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect((await api.call('GET', `/spans/${result}`)).status).to.equal(404);
    expect(
      withDatabase(api.server, (db) => db.prepare('SELECT count(*) AS n FROM experiments WHERE id = ?').get(id)),
    ).to.deep.equal({ n: 0 });
  });

  it('go with their project', async () => {
    await api.dataset('project', 1);
    const { id } = await api.create('project');
    await api.ok('POST', `~/${id}/tags/baseline:pin`);
    await api.ok('POST', `/v1/evals/${id}/scorers`, { name: 'scorer' });
    await api.ok('POST', `/v1/evals/${id}/eval-metrics`, { metric_name: 'm', results: {} });
    await api.ok('POST', `~/${id}/results`, { row_id: 'r1', output_data: 'x' });
    await api.ok('DELETE', `/projects/${api.server.projectId}`);
    const tables = ['experiments', 'experiment_tag_moves', 'experiment_scorers', 'experiment_metrics'];
    const left = () =>
      withDatabase(api.server, (db) =>
        tables.filter((table) => db.prepare(`SELECT 1 FROM ${table}`).get() !== undefined),
      );
    for (let tries = 0; tries < 100 && left().length > 0; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(left()).to.deep.equal([]);
  });
});
