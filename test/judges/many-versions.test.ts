import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { withDatabase } from '../feedback/feedback-api.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { freshIds, importNew, madeRecords } from '../transfer/made-records.js';

/** As many as no call of a function takes as arguments: imports of earlier versions of the server took any number. */
const VERSIONS = 200_000;

describe('a judge with very many versions', function () {
  this.timeout(60_000);
  let server: TestServer;
  before(async () => {
    server = await bootServer();
  });
  after(() => server.dispose());

  it('has figures and a calibration', async () => {
    const ids = freshIds();
    const { prompts, judges, evaluations } = madeRecords(ids, { id: randomUUID(), name: 'Ann' });
    await importNew(server, 'prompts', [prompts]);
    await importNew(server, 'judges', [judges]);
    await importNew(server, 'evaluations', [{ ...evaluations, judge_version: 'one/e200000' }]);
    withDatabase(server, (database) =>
      database
        .prepare(
          `WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < ?)
           INSERT INTO judge_versions (judge_id, judge_version, first_seq, began_at, evaluations)
           SELECT ?, 'one/e' || (200000 + n), 1 + n, n, 1 FROM many`,
        )
        .run(VERSIONS, ids.judge),
    );
    const path = `/projects/${server.projectId}/judges`;
    const listed = await server.request('GET', `${path}?include=figures`);
    expect(listed.status, listed.text).to.equal(200);
    expect(listed.json[0].figures).to.include({ kappa: null, kappa_version: 'v1' });
    const report = await server.request('GET', `${path}/${ids.judge}/calibration`);
    expect(report.status, report.text.slice(0, 300)).to.equal(200);
  });
});
