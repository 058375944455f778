import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { SqliteCorrectionStore } from '../../src/features/calibration/store/correction-store.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { SqliteFeedbackStore } from '../../src/features/feedback/store/feedback-store.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { JUDGE, judgeRow, PROJECT_ROWS } from './judge-file.js';

const OTHER = 'other judge';

describe('a SQLite file from when triggers made the corrections', () => {
  let folder: string;
  let database: Database;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'spanhouse-corrections-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    const files = readMigrationFiles(schemaDirectory('sqlite'));
    migrate(
      database,
      files.slice(
        0,
        files.findIndex(({ name }) => name === 'corrections'),
      ),
    );
    database.exec(PROJECT_ROWS + judgeRow(OTHER, 'project') + HISTORY);
  });
  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });

  const all = (table: string) => database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2, 5`).raw().all();
  const upgrade = () => migrate(database, readMigrationFiles(schemaDirectory('sqlite')));

  it('keeps every correction, every count and nothing that makes them', () => {
    const before = { corrections: all('judge_statements'), versions: all('judge_versions') };
    const sets = database.prepare('SELECT judge_id, revision, removed FROM judge_examples').raw().all();
    expect(before.corrections).to.have.length(5);
    expect(sets).to.deep.equal([
      [JUDGE, 6, 6],
      [OTHER, 1, 0],
    ]);
    upgrade();
    expect({ corrections: all('corrections'), versions: all('judge_versions') }).to.deep.equal(before);
    expect(database.prepare('SELECT * FROM correction_sets').raw().all()).to.deep.equal(sets);
    expect(database.pragma('foreign_key_check')).to.deep.equal([]);
    // The one on evaluations is about calls of models.
    const left = database.prepare(
      `SELECT name FROM sqlite_schema WHERE name <> 'evaluation_tells_of_calls' AND (name LIKE '%statement%' OR tbl_name = 'judge_examples'
         OR (type = 'trigger' AND (tbl_name IN ('corrections', 'correction_sets', 'evaluations') OR sql LIKE '%correction%')))`,
    );
    expect(left.all()).to.deep.equal([]);
  });

  it('goes on where it was: a retry is none, and what is new makes the next revision', () => {
    upgrade();
    const feedback = new SqliteFeedbackStore(database);
    const store = new SqliteCorrectionStore(database);
    const said = {
      ...{ project_id: 'project', prompt_id: 'prompt', completion_id: 'a', user_id: 'ann', judge_id: JUDGE },
      ...{ reason: null, expected_output: null, expected_score: null, score_direction: null },
      ...{ criteria_feedback: null, metadata: {} },
    } as const;
    feedback.save({ ...said, thumbs_up: true, at: 50 });
    expect(store.revision(JUDGE)).to.equal(6);
    feedback.save({ ...said, thumbs_up: false, at: 51 });
    expect([store.revision(JUDGE), store.lastRemoval(JUDGE)]).to.deep.equal([7, 6]);
    feedback.save({ ...said, completion_id: 'unjudged', thumbs_up: true, at: 52 });
    expect(
      store.between(JUDGE, 51, 52).map(({ thumbs_up, evaluation }) => [thumbs_up, evaluation === null]),
    ).to.deep.equal([
      [false, false],
      [true, true],
    ]);
  });
});

const evaluation = (id: string, span: string, version: string | null, at: number, judge = JUDGE) =>
  `INSERT INTO evaluations (id, project_id, judge_id, span_id, origin, evaluation_type, evaluation_result, evaluation_reason,
     prompt_version_id, judge_version, created_at)
   VALUES ('${id}', 'project', '${judge}', '${span}', 'requested', 'binary', 1, 'r', 'pv1',
     ${version === null ? 'NULL' : `'${version}'`}, ${at});`;
const said = (id: string, span: string, thumbs: 0 | 1, at: number, judge = JUDGE, user = 'ann') =>
  `INSERT INTO feedback (id, project_id, prompt_id, completion_id, user_id, judge_id, thumbs_up, metadata, created_at, updated_at)
   VALUES ('${id}', 'project', 'prompt', '${span}', '${user}', '${judge}', ${thumbs}, '{}', ${at}, ${at});`;

/** Said once, again, of a later evaluation, before there was one, of another judge, and of a span that was deleted. */
const HISTORY = [
  evaluation('e1', 'a', 'pv1/none', 1),
  said('f1', 'a', 0, 2),
  `UPDATE feedback SET reason = 'größer', updated_at = 3 WHERE id = 'f1';`,
  evaluation('e2', 'a', 'pv1/e2', 4),
  `UPDATE feedback SET thumbs_up = 1, reason = NULL, updated_at = 5 WHERE id = 'f1';`,
  said('f2', 'a', 0, 6, JUDGE, 'bob'),
  said('f3', 'unjudged', 0, 7),
  evaluation('e3', 'a', null, 8, OTHER),
  said('f4', 'a', 1, 9, OTHER),
  evaluation('e4', 'gone', 'pv1/e2', 10),
  said('f5', 'gone', 0, 11),
  `DELETE FROM feedback WHERE id = 'f5'; DELETE FROM evaluations WHERE id = 'e4';`,
].join('\n');
