import { expect } from 'chai';
import { experimentApi, type ExperimentApi } from '../experiments/experiment-api.js';
import { withDatabase } from '../feedback/feedback-api.js';
import { makeProject } from '../harness/projects.js';

describe('the erasure of a row of a dataset', function () {
  this.timeout(60_000);
  let api: ExperimentApi;

  before(async () => {
    // Of its own: it is stopped.
    api = await experimentApi({});
  });
  after(() => api.dispose());

  const rows = async (ref: number | string): Promise<any[]> =>
    (await api.ok('GET', `/v1/datasets/people/data/${ref}?limit=100`)).rows;
  const upload = (body: object) => api.ok('POST', '/v1/datasets/people/versions', body);
  const erase = (rowId: string, name = 'people') =>
    api.call('DELETE', `/v1/datasets/${name}/rows/${encodeURIComponent(rowId)}`);
  const left = (text: string) =>
    withDatabase(api.server, (db) =>
      db.prepare('SELECT count(*) AS n FROM dataset_contents WHERE instr(content, ?)').get(text),
    ) as { n: number };

  it('takes it from every version, with its results and what was compared', async () => {
    await api.ok('POST', '/v1/datasets', { name: 'people' });
    await upload({
      rows: [
        { id: 'a/b', q: 'Secret one' },
        { id: 'b', q: 'Stays' },
      ],
    });
    await upload({ mode: 'merge', rows: [{ id: 'a/b', q: 'Secret two' }] });
    await upload({ mode: 'merge', remove: ['a/b'], rows: [{ id: 'c', q: 'New' }] });
    const made = [];
    for (const dataset_version of [1, 2]) {
      const { id } = await api.create('people', { dataset_version });
      const results = ['a/b', 'b'].map((row_id) => ({ row_id, output_data: `Said ${row_id}`, scores: { good: true } }));
      made.push({ id, spans: await api.ok('POST', `~/${id}/results`, results) });
      await api.ok('POST', `~/${id}:finish`);
    }
    const comparisons = `/projects/${api.server.projectId}/comparisons`;
    const compared = { candidate: made[1]?.id, baseline: made[0]?.id, metrics: [{ name: 'good', rule: 'report' }] };
    await api.ok('POST', comparisons, compared);

    expect((await erase('nothing')).status).to.equal(404);
    const { key } = makeProject(api.server.dataDir);
    const foreign = await api.server.request('DELETE', '/v1/datasets/people/rows/b', { key });
    expect(foreign.status).to.equal(404);
    expect((await erase('a/b')).status).to.equal(204);

    expect([await rows(1), await rows(2), await rows(3)].map((all) => all.map(({ row_id }) => row_id))).to.deep.equal([
      ['b'],
      ['b'],
      ['b', 'c'],
    ]);
    expect((await api.ok('GET', '/v1/datasets/people/versions')).map((each: any) => each.row_count)).to.deep.equal([
      2, 2, 2,
    ]);
    expect(left('Secret').n).to.equal(0);
    for (const { id, spans } of made) {
      expect((await api.ok('GET', `~/${id}`)).figures).to.include({ results: 1, rows: 1 });
      expect((await api.call('GET', `/spans/${spans[0].id}`)).status).to.equal(404);
      expect((await api.call('GET', `/spans/${spans[1].id}`)).status).to.equal(200);
      expect(await api.ok('GET', `/scores?entity_id=${spans[0].id}`)).to.deep.equal([]);
    }
    expect(await api.ok('GET', comparisons)).to.deep.equal([]);
    expect((await erase('a/b')).status).to.equal(404);
  });

  it('leaves what is sent later, also where it is completed after that', async () => {
    await upload({ mode: 'merge', rows: [{ id: 'd', q: 'Early' }] });
    const { seq } = withDatabase(api.server, (db) =>
      db.prepare("SELECT max(seq) AS seq FROM dataset_rows WHERE row_id = 'd'").get(),
    ) as { seq: number };
    await upload({ mode: 'merge', rows: [{ id: 'd', q: 'Late' }] });
    const { dataDir, projectId } = api.server;
    const { id: dataset } = await api.ok('GET', '/v1/datasets/people');
    await api.server.stop();
    // As a stop leaves it right after the order.
    withDatabase(api.server, (db) => {
      const deletion = db
        .prepare(
          `INSERT INTO deletions (project_id, what, target, ordered, upto, created_at)
           VALUES (?, 'spans', ?, 1, 1, 1) RETURNING seq`,
        )
        .get(projectId, `row/${dataset}/d`) as { seq: number };
      db.prepare(
        `INSERT INTO deletion_items (deletion, kind, trace_id, id, started_at) VALUES (?, 'row', ?, 'd', ?)`,
      ).run(deletion.seq, dataset, seq);
    });
    api = await experimentApi({ dataDir });
    expect((await rows('latest')).find(({ row_id }) => row_id === 'd')).to.include({ q: 'Late' });
    expect(left('Early').n).to.equal(0);
    expect(withDatabase(api.server, (db) => db.prepare('SELECT count(*) AS n FROM deletions').get())).to.deep.equal({
      n: 0,
    });
    expect((await erase('d')).status).to.equal(204);
    await upload({ mode: 'merge', rows: [{ id: 'd', q: 'Again' }] });
    expect((await rows('latest')).find(({ row_id }) => row_id === 'd')).to.include({ q: 'Again' });
  });
});
