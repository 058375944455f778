import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Deletion } from '../../src/features/deletion/deletion-store.js';
import { DATABASE_FILE, openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { SqliteDeletionStore } from '../../src/features/deletion/store/deletion-store.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { JUDGE, JudgeFile } from '../learning/judge-file.js';
import { freshIds, importNew, madeRecords } from '../transfer/made-records.js';

const MANY = 1_300;
/** Rows that may go in one turn of the event loop. */
const PORTION = 500;
const NUMBERS = 'WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < @count) INSERT INTO';

const countOf = (database: Database, table: string, where = '1') =>
  database.prepare<[], number>(`SELECT count(*) FROM ${table} WHERE ${where}`).pluck().get() ?? 0;

describe('very many records of spans that are deleted', () => {
  let file: JudgeFile;
  let ordered: Deletion;

  /** A span with very many evaluations and opinions: people speak of its first evaluation, and one of them of each. */
  beforeEach(() => {
    file = new JudgeFile();
    file.evaluate('many', true, 'pv1/none');
    file.evaluate('few', true, 'pv1/none');
    file.say('few', false);
    const run = (sql: string) => file.database.prepare<object>(sql).run({ count: MANY, judge: JUDGE });
    run(`${NUMBERS} users (id, name, created_at) SELECT 'user ' || n, 'P', n FROM many`);
    run(`${NUMBERS} evaluations (id, project_id, judge_id, span_id, origin, evaluation_type, evaluation_result,
        evaluation_reason, judge_version, created_at)
      SELECT 'made ' || n, 'project', @judge, 'many', iif(n % 2, 'external', 'requested'), 'binary', 1, '', 'pv1/none', n FROM many`);
    run(`${NUMBERS} judge_runs (id, project_id, judge_id, span_id, trace_id, span_started_at, origin, state, attempts,
        next_attempt_at, created_at, updated_at)
      SELECT 'run ' || n, 'project', @judge, 'many', 't', 1, 'requested', 'failed', n % 2, 1, 1, 1 FROM many`);
    run(`${NUMBERS} feedback (id, project_id, prompt_id, completion_id, user_id, judge_id, thumbs_up, metadata, created_at, updated_at)
      SELECT 'said ' || n, 'project', 'prompt', 'many', 'user ' || n, @judge, 1, '{}', n, n FROM many`);
    run(`${NUMBERS} corrections (feedback_id, judge_id, span_id, user_id, evaluation_seq, revision, thumbs_up, given_at)
      SELECT 'said ' || n, @judge, 'many', 'user ' || n, 1, n, 1, n FROM many`);
    run(`${NUMBERS} corrections (feedback_id, judge_id, span_id, user_id, evaluation_seq, revision, thumbs_up, given_at)
      SELECT 'said 1', @judge, 'many', 'user 1', (SELECT seq FROM evaluations WHERE id = 'made ' || n), n, 1, n FROM many`);
    run(`UPDATE judge_versions SET evaluations = evaluations + @count WHERE judge_id = @judge`);
    const target = { projectId: 'project', kind: 'trace', id: randomUUID() } as const;
    ordered = new SqliteDeletionStore(file.database).begin({ ...target, upTo: 0, at: 0 }, [], true);
    file.evaluate('many', true, 'pv1/none', { id: 'later', origin: 'external' });
    file.say('few', true, 'bob'); // after the order: these stay
  });
  afterEach(() => {
    file.dispose();
  });

  const rows = () =>
    ['evaluations', 'feedback', 'corrections', 'judge_runs'].reduce(
      (sum, table) => sum + countOf(file.database, table),
      0,
    );
  const revision = () => file.database.prepare<[], number>('SELECT revision FROM correction_sets').pluck().get() ?? 0;
  const noted = (kind: string) =>
    file.database.prepare<[string], string>('SELECT id FROM deletion_items WHERE kind = ?').pluck().all(kind);
  /** The figures that are kept beside rows are those of the rows. */
  const expectCounted = (total: number) => {
    const { database } = file;
    expect(database.prepare('SELECT sum(evaluations) FROM judge_versions').pluck().get()).to.equal(
      countOf(database, 'evaluations'),
    );
    expect(revision() + countOf(database, 'corrections', 'evaluation_seq IS NOT NULL'), 'each that went').to.equal(
      total,
    );
    expect(
      countOf(database, 'evaluations', "id LIKE 'made %' AND origin <> 'external'") +
        noted('run').filter((id) => id.startsWith('made')).length,
    ).to.equal(MANY / 2);
  };

  for (const cutOff of [false, true])
    it(`go by portions, ${cutOff ? 'also when it is cut off behind each of them' : 'within a span, too'}`, () => {
      const spans = ['few', 'many'].map((id) => ({ id, stays: false }));
      const total = revision() + countOf(file.database, 'corrections', 'evaluation_seq IS NOT NULL');
      let store = new SqliteDeletionStore(file.database);
      let left = spans;
      const judges = new Set<string>();
      for (let portions = 0; left.length > 0; portions += 1) {
        const before = rows();
        const { judges: shown, done } = store.removeSpans(ordered, left);
        expect(before - rows()).to.be.at.most(PORTION);
        expectCounted(total);
        expect(portions).to.be.below(20);
        for (const judge of shown) judges.add(judge);
        if (cutOff) store = new SqliteDeletionStore(file.database);
        left = cutOff && rows() !== before ? spans : left.slice(done);
      }
      expect([...judges]).to.deep.equal([JUDGE]);
      const remains = (table: string) => file.database.prepare<[], string>(`SELECT id FROM ${table}`).pluck().all();
      expect(remains('evaluations')).to.deep.equal(['later']);
      expect(remains('feedback')).to.have.length(1);
      expect(remains('judge_runs')).to.deep.equal([]);
      expect(countOf(file.database, 'judge_calls')).to.equal(0);
      expect(countOf(file.database, 'corrections'), 'of the feedback that stays, too: its evaluation went').to.equal(0);
      expect(noted('run').filter((id) => id.startsWith('run'))).to.have.length(MANY);
      expect(new Set(noted('shown'))).to.deep.equal(new Set(['few', 'many']));
      expect(new SqliteDeletionStore(file.database).withRecords('project', ['few', 'many', 'none'])).to.have.members([
        'few',
        'many',
      ]);
    });
});

describe('a trace whose span has very many evaluations', function () {
  this.timeout(60_000);
  const EVALUATIONS = 6_000;
  let server: TestServer;
  before(async () => {
    server = await bootServer();
  });
  after(() => server.dispose());

  it('is deleted while the event loop goes on', async () => {
    const ids = freshIds();
    const { prompts, judges } = madeRecords(ids, { id: randomUUID(), name: 'Ann' });
    await importNew(server, 'prompts', [prompts]);
    await importNew(server, 'judges', [judges]);
    const trace_id = randomUUID();
    const body = [{ id: ids.span, trace_id, name: 'one', started_at: new Date().toISOString() }];
    expect((await server.request('POST', '/spans', { body })).status).to.equal(200);
    const database = openDatabase(join(server.dataDir, DATABASE_FILE));
    try {
      database
        .prepare<object>(
          `${NUMBERS} evaluations (id, project_id, judge_id, span_id, origin, evaluation_type, evaluation_result,
             evaluation_reason, created_at)
           SELECT 'made ' || n, @project, @judge, @span, 'external', 'binary', 1, '', n FROM many`,
        )
        .run({ ...ids, count: EVALUATIONS, project: server.projectId });
      let going = true;
      const deleted = server.request('DELETE', `/traces/${trace_id}`).finally(() => (going = false));
      let most = 0;
      for (let last = EVALUATIONS; going;) {
        await nextTurn();
        const now = countOf(database, 'evaluations');
        most = Math.max(most, last - now);
        last = now;
      }
      expect((await deleted).status).to.equal(204);
      expect(countOf(database, 'evaluations')).to.equal(0);
      expect(most, 'rows that went in one turn').to.be.at.most(2 * PORTION);
    } finally {
      database.close();
    }
  });
});
