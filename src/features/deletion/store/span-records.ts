import type { Affected, DeletedSpan } from '../deletion-store.js';
import type { Micros } from '../../../engine/timestamp.js';
import { rowErasure } from '../../datasets/store/row-erasure.js';
import { correctionRemoval } from '../../feedback/store/correction-rows.js';
import type { Database } from '../../../engine/metadata/database.js';
import { evaluationRemoval } from '../../judges/store/evaluation-rows.js';
import { exampleRemoval } from '../../judges/store/example-removal.js';
import {
  ABOUT,
  ANY,
  AT_ONCE,
  choice,
  CHOSEN,
  JOB_ERROR,
  MEANT,
  noting,
  rowsAbout,
  TABLES,
  type OfSpan,
} from './records-about.js';
import { judgesWholes, wholeStep } from './whole-records.js';

/** Removes so many rows about a span at most. @returns how many; fewer: nothing is left */
type Step = (of: OfSpan, most: number) => number;

/** Which of some spans any row is about, whenever it came. */
export function spansWithRecords(db: Database): (projectId: string, spanIds: readonly string[]) => string[] {
  const about = rowsAbout('s.value');
  const tables = TABLES.map((table) => ({
    any: db.prepare<[string], number>(`SELECT EXISTS (SELECT 1 FROM ${ANY[table]})`).pluck(),
    find: db
      .prepare<{ projectId: string; spans: string }, string>(
        `SELECT s.value FROM json_each(@spans) AS s WHERE EXISTS (SELECT 1 FROM ${about[table]})`,
      )
      .pluck(),
  }));
  return (projectId, spanIds) => {
    const of = { projectId, spans: JSON.stringify(spanIds) };
    // Most projects have no rows in most of the tables: asking that once is nearly nothing, asking for each span is not.
    const used = tables.filter(({ any }) => any.get(projectId) === 1);
    return [...new Set(used.flatMap(({ find }) => find.all(of)))];
  };
}

/** Whether any evaluation, feedback or run is about a span. */
export function hasRecords(db: Database): (projectId: string, span: string) => boolean {
  const exists = (['evaluations', 'feedback', 'runs'] as const).map(
    (table) => `EXISTS (SELECT 1 FROM ${ABOUT[table]})`,
  );
  const knows = db.prepare<{ projectId: string; span: string }, number>(`SELECT ${exists.join(' OR ')}`).pluck();
  return (projectId, span) => knows.get({ projectId, span }) === 1;
}

/**
 * Removes rows about spans inside a transaction of the caller's, one span after the other: up to a number of rows, as a single
 * span may have very many. What a row is to be followed up by is noted when it goes, so that it may be interrupted behind any portion.
 */
export function spanRecordRemoval(
  db: Database,
): (deletion: number, projectId: string, spans: readonly DeletedSpan[]) => Affected {
  const judges = new Set<string>();
  const steps = [...runSteps(db), feedbackStep(db, judges), evaluationStep(db), rowStep(db), pinStep(db, judges)];
  const hasWholes = judgesWholes(db);
  const stepsWithWholes = [...steps, wholeStep(db)];
  const failJobs = db.prepare<OfSpan & { error: string; at: Micros }>(
    `UPDATE jobs SET state = 'failed', phase = NULL, error = @error, finished_at = @at
     WHERE finished_at IS NULL AND id IN (SELECT t.id FROM ${MEANT.jobs})`,
  );
  const findJobs = db.prepare<OfSpan, { job_id: string; span_id: string }>(
    `SELECT w.job_id, w.span_id FROM ${MEANT.jobs}`,
  );

  return (deletion, projectId, spans) => {
    judges.clear();
    const all = hasWholes(projectId) ? stepsWithWholes : steps;
    const jobs: { job_id: string; span_id: string }[] = [];
    let left = AT_ONCE;
    let done = 0;
    for (const { id, stays } of spans) {
      const of = { deletion, projectId, span: id, stays: stays ? 1 : 0 } as const;
      for (const remove of all) if (left > 0) left -= remove(of, left);
      if (left === 0) break;
      const found = findJobs.all(of);
      if (found.length > 0) failJobs.run({ ...of, error: JOB_ERROR, at: Date.now() * 1000 });
      jobs.push(...found);
      done += 1;
    }
    return { judges: [...judges], jobs, done };
  };
}

/** Runs, and those whose calls alone are left. */
function runSteps(db: Database): readonly Step[] {
  const step = (table: 'runs' | 'calls', key: string, statements: readonly string[]): Step => {
    const choose = choice(db, table, key);
    const prepared = statements.map((sql) => db.prepare<object>(sql));
    return (of, most) => {
      const rows = choose.all({ ...of, most });
      if (rows.length > 0)
        for (const statement of prepared) statement.run({ deletion: of.deletion, keys: JSON.stringify(rows) });
      return rows.length;
    };
  };
  const runs = `judge_runs WHERE id IN ${CHOSEN}`;
  const calls = `judge_calls WHERE run_id IN ${CHOSEN}`;
  return [
    // A run that goes leaves a row about its calls, by trigger.
    step('runs', 'id', [noting('run', "''", 'id', runs), `DELETE FROM ${runs}`, `DELETE FROM ${calls}`]),
    step('calls', 'run_id', [noting('run', "''", 'run_id', calls), `DELETE FROM ${calls}`]),
  ];
}

/** @param judges gets those whose results the feedback is on */
function feedbackStep(db: Database, judges: Set<string>): Step {
  const judged = `feedback WHERE id IN ${CHOSEN} AND judge_id IS NOT NULL`;
  const note = db.prepare<object>(noting('shown', 'judge_id', 'completion_id', judged));
  const judgesOf = db.prepare<object, string>(`SELECT DISTINCT judge_id FROM ${judged}`).pluck();
  const remove = db.prepare<object>(`DELETE FROM feedback WHERE id IN ${CHOSEN}`);
  return behindCorrections(db, choice(db, 'feedback', 'id'), 'feedback_id', (of) => {
    note.run(of);
    for (const judge of judgesOf.all(of)) judges.add(judge);
    remove.run(of);
  });
}

function evaluationStep(db: Database): Step {
  const note = db.prepare<object>(
    noting('run', "''", 'id', `evaluations WHERE seq IN ${CHOSEN} AND origin <> 'external'`),
  );
  const remove = evaluationRemoval(db, `seq IN ${CHOSEN}`);
  return behindCorrections(db, choice(db, 'evaluations', 'seq'), 'evaluation_seq', (of) => {
    note.run(of);
    remove(of);
  });
}

/** Examples of the span in pinned versions, which cannot be had without them. @param judges gets those that showed it */
function pinStep(db: Database, judges: Set<string>): Step {
  const choose = choice(db, 'pinned', 'seq');
  const examples = `judge_pin_examples WHERE seq IN ${CHOSEN}`;
  const note = db.prepare<object>(noting('shown', 'judge_id', 'span_id', examples));
  const judgesOf = db.prepare<object, string>(`SELECT DISTINCT judge_id FROM ${examples}`).pluck();
  const remove = exampleRemoval(db, CHOSEN);
  return (of, most) => {
    const rows = choose.all({ ...of, most });
    if (rows.length === 0) return 0;
    const chosen = { deletion: of.deletion, keys: JSON.stringify(rows), at: Date.now() * 1000 };
    for (const judge of judgesOf.all(chosen)) judges.add(judge);
    note.run(chosen);
    remove(chosen);
    return rows.length;
  };
}

/** Rows of datasets that were made of the span. */
function rowStep(db: Database): Step {
  const choose = choice(db, 'rows', 'seq');
  const tried = db.prepare<object>(
    noting(
      'row',
      'd.id',
      'r.row_id',
      `dataset_rows AS r CROSS JOIN datasets AS d ON d.seq = r.dataset
       WHERE r.seq IN ${CHOSEN} AND EXISTS (SELECT 1 FROM experiments WHERE dataset_id = d.id AND project_id = d.project_id)`,
    ),
  );
  const erase = rowErasure(db);
  return (of, most) => {
    const rows = choose.all({ ...of, most });
    if (rows.length === 0) return 0;
    tried.run({ deletion: of.deletion, keys: JSON.stringify(rows) });
    erase(rows);
    return rows.length;
  };
}

/** Removes rows that corrections name: a correction goes before them, and one row may have very many. */
function behindCorrections(
  db: Database,
  choose: ReturnType<typeof choice>,
  naming: 'feedback_id' | 'evaluation_seq',
  remove: (of: { readonly deletion: number; readonly keys: string }) => void,
): Step {
  const removeCorrections = correctionRemoval(
    db,
    `rowid IN (SELECT rowid FROM corrections WHERE ${naming} IN ${CHOSEN} LIMIT @most)`,
  );
  return (of, most) => {
    const rows = choose.all({ ...of, most });
    if (rows.length === 0) return 0;
    const corrections = removeCorrections({ keys: JSON.stringify(rows), most });
    const last = rows.slice(0, most - corrections);
    if (last.length > 0) remove({ deletion: of.deletion, keys: JSON.stringify(last) });
    return corrections + last.length;
  };
}
