import { expect } from 'chai';
import { withDatabase } from '../feedback/feedback-api.js';
import { experimentApi, type ExperimentApi } from './experiment-api.js';

describe('tags of experiments that were moved very often', () => {
  let api: ExperimentApi;

  before(async () => {
    // A server of its own, whose database is written to past it.
    api = await experimentApi({});
  });
  after(() => api?.dispose());

  it('keep their newest moves, and cost an experiment no time', async () => {
    await api.dataset('often', 1);
    const { id, dataset } = await api.create('often');
    await api.ok('POST', `~/${id}/tags/baseline:pin`);
    const readTenTimes = async (tags: number) => {
      const began = performance.now();
      for (let time = 0; time < 10; time += 1) expect((await api.ok('GET', `~/${id}`)).tags).to.have.length(tags);
      return performance.now() - began;
    };
    const withOne = await readTenTimes(1);
    withDatabase(api.server, (db) =>
      db
        .prepare(
          `INSERT INTO experiment_tag_moves (project_id, dataset_id, tag, experiment_id, moved_at, moved_by)
           WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100000)
           SELECT project_id, dataset_id, 't' || (n % 50), @id, moved_at + n, moved_by FROM experiment_tag_moves, n`,
        )
        .run({ id }),
    );
    // Looking at each move would take a hundred times as long.
    expect((await readTenTimes(51)) / withOne, 'times as long').to.be.below(20);
    expect((await api.ok('GET', '~?tag=t1')).total).to.equal(1);
    await api.ok('DELETE', `~/${id}/tags/t1`);
    const kept = withDatabase(api.server, (db) =>
      db
        .prepare('SELECT count(*) FROM experiment_tag_moves WHERE dataset_id = ? AND tag = ?')
        .pluck()
        .get(dataset.id, 't1'),
    );
    expect(kept).to.equal(1_000);
    const { tags } = await api.ok('GET', `~/${id}`);
    expect([tags.includes('t1'), tags.length]).to.deep.equal([false, 50]);
    expect((await api.call('GET', '~?tag=t1')).json.total).to.equal(0);
  });
});
