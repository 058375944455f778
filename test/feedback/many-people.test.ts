import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { DATABASE_FILE, openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { SqliteFeedbackPages } from '../../src/features/feedback/store/feedback-pages.js';
import { SqliteIdentityStore } from '../../src/engine/identity/store/identity-store.js';
import { unhurried } from '../harness/program.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { freshIds, importNew, madeRecords } from '../transfer/made-records.js';

const PEOPLE = 300_000;
const CALLS = 20;
/** An idle machine takes a millisecond for one; it took 400, and 2,600 for the first user, when it read all people. */
const MAX_MS = 50;

describe('people whom another project imported', function () {
  this.timeout(180_000);
  let server: TestServer;
  let database: Database;
  let prompt: string;

  before(async () => {
    server = await bootServer();
    const other = makeProject(server.dataDir);
    const ids = freshIds();
    prompt = ids.prompt;
    const { prompts, feedback } = madeRecords(ids, { id: randomUUID(), name: 'Ann' });
    await importNew(server, 'prompts', [prompts]);
    await importNew(server, 'feedback', [{ ...feedback, judge_id: null, feedback_link_id: null }]);
    database = openDatabase(join(server.dataDir, DATABASE_FILE));
    database.transaction(() => {
      const many = 'WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < ?) INSERT INTO';
      const now = Date.now() * 1000;
      database.prepare(`${many} users (id, name, created_at) SELECT 'p' || n, 'Ann', ? FROM many`).run(PEOPLE, now);
      database.prepare(`${many} imported_people SELECT ?, 'p' || n, 'p' || n FROM many`).run(PEOPLE, other.projectId);
    })();
  });
  after(async () => {
    database.close();
    await server.dispose();
  });

  function fastest(work: () => unknown): number {
    const times = Array.from({ length: CALLS }, () => {
      const began = performance.now();
      work();
      return performance.now() - began;
    });
    return Math.min(...times);
  }

  it('are not looked through for the feedback that one with the name of many gave here', async () => {
    const { json } = await server.request(
      'GET',
      `/projects/${server.projectId}/prompts/task-${prompt}/feedback?reviewer=Ann`,
    );
    expect(json.total).to.equal(1);
    const pages = new SqliteFeedbackPages(database);
    const everybody = { start: null, end: null, thumbsUp: null, source: null, judgeId: null, linkId: null };
    const of = { subject: { promptId: prompt }, filter: { ...everybody, reviewer: 'Ann' }, descending: true };
    const read = () => pages.page(of, { limit: 50, offset: 0 });
    expect(read().total).to.equal(1);
    expect(fastest(read)).to.be.below(unhurried(MAX_MS));
  });

  it('are not looked through by a start that makes the key it was told to', () => {
    const store = new SqliteIdentityStore(database);
    const identity = new IdentityService({ store });
    let next = 0;
    const start = () => identity.bootstrap({ apiKey: `sk_sh_chosen_${(next += 1)}`, projectId: server.projectId });
    expect(fastest(start)).to.be.below(unhurried(MAX_MS));
    const { user_id } = identity.authenticate(`Bearer sk_sh_chosen_${next}`);
    expect(user_id).to.equal(identity.authenticate(`Bearer ${server.key}`).user_id);
    identity.close();
  });
});
