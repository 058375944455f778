import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { unhurried } from '../harness/program.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { freshIds, importNew, madeRecords } from '../transfer/made-records.js';

const PEOPLE = 12_000;
const EVALUATIONS = 5_000;
/** It took many seconds when each looked at all that was said of the span; now it is some 50 ms on an idle machine. */
const MAX_MS = 2_500;
const MANY = 'WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < @count) INSERT INTO';

describe('what very many people said of one span', function () {
  this.timeout(180_000);
  let server: TestServer;
  let path: string;

  before(async () => {
    server = await bootServer();
    const ids = freshIds();
    const { prompts, judges, evaluations } = madeRecords(ids, { id: randomUUID(), name: 'Ann' });
    await importNew(server, 'prompts', [prompts]);
    await importNew(server, 'judges', [{ ...judges, corrections_revision: 1 }]);
    for (let made = 0; made < EVALUATIONS; made += 1_000) {
      const some = Array.from({ length: 1_000 }, () => ({ ...evaluations, id: randomUUID() }));
      await importNew(server, 'evaluations', some);
    }
    const database = openDatabase(join(server.dataDir, DATABASE_FILE));
    const run = (sql: string) =>
      database.prepare<object>(sql).run({ count: PEOPLE, project: server.projectId, ...ids });
    database.transaction(() => {
      run(`${MANY} users (id, name, created_at) SELECT 'user ' || n, 'P', n FROM many`);
      run(`${MANY} feedback (id, project_id, prompt_id, completion_id, user_id, judge_id, thumbs_up, metadata, created_at, updated_at)
        SELECT 'said ' || n, @project, @prompt, @span, 'user ' || n, @judge, 1, '{}', n, n FROM many`);
      run(`${MANY} corrections (feedback_id, judge_id, span_id, user_id, revision, thumbs_up, given_at)
        SELECT 'said ' || n, @judge, @span, 'user ' || n, 1, 1, n FROM many`);
    })();
    database.close();
    path = `/projects/${server.projectId}/judges/${ids.judge}`;
  });
  after(() => server.dispose());

  for (const [what, read] of [
    ['its calibration', 'calibration'],
    ['what nobody spoke of', `evaluations?agreement=unreviewed&limit=10&offset=${EVALUATIONS - 10}`],
  ] as const)
    it(`is not looked through again for each of them: ${what}`, async () => {
      const began = performance.now();
      const { status, json, text } = await server.request('GET', `${path}/${read}`);
      expect(performance.now() - began).to.be.below(unhurried(MAX_MS));
      expect(status, text).to.equal(200);
      if (read !== 'calibration') expect(json.evaluations).to.have.length(10);
    });
});
