import { randomUUID } from 'node:crypto';
import type { Affected, DeletedTrace } from '../deletion-store.js';
import { correctionRemoval } from '../../feedback/store/correction-rows.js';
import type { Database } from '../../../engine/metadata/database.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';
import { evaluationRemoval } from '../../judges/store/evaluation-rows.js';
import { exampleRemoval } from '../../judges/store/example-removal.js';
import { AT_ONCE, CHOSEN, IS_MEANT, JOB_ERROR, MEANT_WHOLES, noting, type OfSpan } from './records-about.js';

type OfTrace = Omit<OfSpan, 'span'> & { readonly trace: string };
type JobSpan = Affected['jobs'][number];

/** Gets what continues without the evaluations that are removed. */
interface Followed {
  readonly judges: Set<string>;
  readonly jobs: JobSpan[];
}

const isLater = (table: string, key: string) =>
  `EXISTS (SELECT 1 FROM ${table} AS l WHERE l.${key} = t.run_id AND l.after_deletion >= @deletion)`;
/** Of a trace that was sent again, only what was there when the deletion was ordered. */
const OF_TRACE = `SELECT t.run_id FROM judged_traces AS t WHERE t.project_id = @projectId AND t.trace_id = @trace
  AND (@stays = 0 OR NOT (${isLater('evaluations', 'id')} OR ${isLater('judge_runs', 'id')} OR ${isLater('judge_calls', 'run_id')}))`;

const EVALUATIONS = `evaluations AS e WHERE e.id IN ${CHOSEN}`;
const JOBS = 'job_spans AS w JOIN jobs AS t ON t.id = w.job_id AND t.subject_id = e.judge_id';
/** What pinned versions show of the spans. */
const SHOWN = 'judge_pin_examples AS k ON k.span_id = e.span_id AND k.judge_id = e.judge_id';
/** Evaluations whose verdicts were shown to a model again: in examples, and by the jobs of their judge. */
const LEARNED = `${EVALUATIONS} AND (EXISTS (SELECT 1 FROM corrections AS c WHERE c.evaluation_seq = e.seq)
  OR EXISTS (SELECT 1 FROM ${JOBS} WHERE w.span_id = e.span_id) OR EXISTS (SELECT 1 FROM judge_pin_examples AS k WHERE k.span_id = e.span_id AND k.judge_id = e.judge_id))`;

/** The traces of a project that a judge was shown. */
export function tracesJudged(db: Database) {
  const any = db
    .prepare<{ projectId: string }, number>(
      `SELECT EXISTS (SELECT 1 FROM judged_traces WHERE project_id = @projectId)
         OR EXISTS (SELECT 1 FROM job_traces WHERE project_id = @projectId)`,
    )
    .pluck();
  const among = db
    .prepare<{ projectId: string; traces: string }, string>(
      `SELECT s.value FROM json_each(@traces) AS s
       WHERE EXISTS (SELECT 1 FROM judged_traces AS t WHERE t.project_id = @projectId AND t.trace_id = s.value)
         OR EXISTS (SELECT 1 FROM job_traces AS t WHERE t.project_id = @projectId AND t.trace_id = s.value)`,
    )
    .pluck();
  return {
    /** Whether there are any. */
    any: (projectId: string) => any.get({ projectId }) === 1,
    /** Which of some traces are. */
    among: (projectId: string, traceIds: readonly string[]) =>
      among.all({ projectId, traces: JSON.stringify(traceIds) }),
  };
}

/** Jobs that work with spans that a deletion notes as shown to their judges. */
export function jobsShown(db: Database): (deletion: number, projectId: string) => JobSpan[] {
  const find = db.prepare<[number, string], JobSpan>(
    `SELECT DISTINCT w.job_id, w.span_id FROM deletion_items AS i INDEXED BY deletion_items_in_order
     JOIN job_spans AS w ON w.span_id = i.id JOIN jobs AS t ON t.id = w.job_id AND t.subject_id = i.trace_id
     WHERE i.deletion = ? AND i.kind = 'shown' AND t.project_id = ?`,
  );
  return (deletion, projectId) => find.all(deletion, projectId);
}

/**
 * Removes what judges said of traces and sessions that a span is gone of, inside a transaction of the caller's, one trace after
 * the other, as `spanRecordRemoval` does.
 */
export function wholeRecordRemoval(
  db: Database,
): (deletion: number, projectId: string, traces: readonly DeletedTrace[]) => Affected {
  const remove = removal(db, OF_TRACE, '@trace');
  const jobsOf = jobsShowing(db);
  return (deletion, projectId, traces) => {
    const followed: Followed = { judges: new Set(), jobs: [] };
    let left = AT_ONCE;
    let done = 0;
    for (const { id, stays } of traces) {
      const of = { deletion, projectId, trace: id, stays: stays ? 1 : 0 } as const;
      left -= remove(of, left, followed);
      if (left === 0) break;
      followed.jobs.push(...jobsOf(of));
      done += 1;
    }
    return { judges: [...followed.judges], jobs: followed.jobs, done };
  };
}

/** Finds the jobs that showed a model a trace, and has those fail that have not ended. They lose what they made of it. */
function jobsShowing(db: Database): (of: OfTrace) => JobSpan[] {
  const jobs = `job_traces AS s JOIN jobs AS t ON t.id = s.job_id
    WHERE s.project_id = @projectId AND s.trace_id = @trace AND ${IS_MEANT}`;
  const find = db.prepare<OfTrace, JobSpan>(`SELECT s.job_id, s.span_id FROM ${jobs}`);
  const fail = jobFailure(db);
  return (of) => {
    const found = find.all(of);
    fail(found);
    return found;
  };
}

/** Has jobs fail that have not ended, as they work with what is deleted. */
function jobFailure(db: Database): (jobs: readonly JobSpan[]) => void {
  const fail = db.prepare<object>(
    `UPDATE jobs SET state = 'failed', phase = NULL, error = @error, finished_at = @at
     WHERE finished_at IS NULL AND id IN (SELECT value FROM json_each(@jobs))`,
  );
  return (jobs) => {
    if (jobs.length === 0) return;
    const ids = [...new Set(jobs.map(({ job_id }) => job_id))];
    fail.run({ jobs: JSON.stringify(ids), error: JOB_ERROR, at: Date.now() * 1000 });
  };
}

/**
 * Whether a project has, or had, a judge of traces or sessions, or of results that showed it their traces. Few have, and looking for
 * what it said costs more.
 */
export function judgesWholes(db: Database): (projectId: string) => boolean {
  const any = db
    .prepare<{ projectId: string }, number>(
      `SELECT EXISTS (SELECT 1 FROM judges WHERE project_id = @projectId AND subject <> 'span')
         OR EXISTS (SELECT 1 FROM judged_traces WHERE project_id = @projectId)`,
    )
    .pluck();
  return (projectId) => any.get({ projectId }) === 1;
}

/** Removes what judges said of traces and sessions for which a span stands; their judges and jobs are those of the span. */
export function wholeStep(db: Database): (of: OfSpan, most: number) => number {
  const remove = removal(db, MEANT_WHOLES, '(SELECT min(trace_id) FROM judged_traces AS l WHERE l.run_id = k.run_id)');
  return (of, most) => remove(of, most, { judges: new Set(), jobs: [] });
}

/**
 * @param chosen SQL of the ids of runs and evaluations
 * @param last SQL of a trace of the row `k`, by which it is chosen, or known as shown: its row goes last, so that a next portion
 *   finds the run
 */
function removal(db: Database, chosen: string, last: string) {
  const choose = db.prepare<object, string>(`SELECT run_id FROM (${chosen}) LIMIT @most`).pluck();
  const unlearn = unlearning(db);
  const removeTraces = db.prepare<object>(
    `DELETE FROM judged_traces WHERE (project_id, trace_id, run_id) IN (
       SELECT project_id, trace_id, run_id FROM judged_traces AS k
       WHERE run_id IN ${CHOSEN} AND trace_id IS NOT ${last} LIMIT @most)`,
  );
  const finish = finishing(db);
  return (of: OfTrace | OfSpan, most: number, followed: Followed): number => {
    const ids = choose.all({ ...of, most });
    if (ids.length === 0) return 0;
    const values = { ...of, keys: JSON.stringify(ids) };
    const corrections = unlearn(values, most, followed);
    if (corrections === most) return most;
    const traces = removeTraces.run({ ...values, most: most - corrections }).changes;
    const gone = ids.slice(0, most - corrections - traces);
    if (gone.length > 0) finish({ ...of, keys: JSON.stringify(gone) });
    return corrections + traces + gone.length;
  };
}

/** Removes what judges learned of evaluations, as examples quote their reasons: corrections, so many at most, and copies of them. */
function unlearning(db: Database): (values: object, most: number, followed: Followed) => number {
  const judges = db.prepare<object, string>(`SELECT DISTINCT e.judge_id FROM ${LEARNED}`).pluck();
  const note = db.prepare<object>(noting('shown', 'e.judge_id', 'e.span_id', LEARNED));
  const jobs = db.prepare<object, JobSpan>(
    `SELECT DISTINCT w.job_id, w.span_id FROM evaluations AS e JOIN ${JOBS} AND w.span_id = e.span_id WHERE e.id IN ${CHOSEN}`,
  );
  const fail = jobFailure(db);
  const removeExamples = exampleRemoval(
    db,
    `(SELECT k.seq FROM evaluations AS e JOIN ${SHOWN} WHERE e.id IN ${CHOSEN})`,
  );
  const removeCorrections = correctionRemoval(
    db,
    `rowid IN (SELECT rowid FROM corrections WHERE evaluation_seq IN (SELECT e.seq FROM ${EVALUATIONS}) LIMIT @most)`,
  );
  return (values, most, followed) => {
    const learned = judges.all(values);
    if (learned.length === 0) return 0;
    for (const judge of learned) followed.judges.add(judge);
    note.run(values);
    const affected = jobs.all(values);
    fail(affected);
    followed.jobs.push(...affected);
    removeExamples({ ...values, at: Date.now() * 1000 });
    return removeCorrections({ ...values, most });
  };
}

/** Removes evaluations and runs, notes their calls, and has queued runs start over: under another id, what is in progress is not stored. */
function finishing(db: Database): (values: { readonly keys: string }) => void {
  const note = db.prepare<object>(noting('run', "''", 'value', 'json_each(@keys)'));
  const removeEvaluations = evaluationRemoval(db, `id IN ${CHOSEN}`);
  const queued = db
    .prepare<object, string>(`SELECT id FROM judge_runs WHERE id IN ${CHOSEN} AND state = 'queued'`)
    .pluck();
  const beginAnew = db.prepare<{ id: string; newId: string }>(
    `UPDATE judge_runs SET id = @newId, attempts = 0, reason = NULL, after_deletion = ${LAST_DELETION} WHERE id = @id`,
  );
  // A run that goes leaves a row about its calls, by trigger.
  const remove = ['judge_runs WHERE id', 'judge_calls WHERE run_id', 'judged_traces WHERE run_id'].map((rows) =>
    db.prepare<object>(`DELETE FROM ${rows} IN ${CHOSEN}`),
  );
  return (values) => {
    note.run(values);
    removeEvaluations(values);
    for (const id of queued.all(values)) beginAnew.run({ id, newId: randomUUID() });
    for (const statement of remove) statement.run(values);
  };
}
