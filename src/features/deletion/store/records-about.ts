import type { Database } from '../../../engine/metadata/database.js';

/** Rows that one transaction removes, corrections among them: a few milliseconds of work. */
export const AT_ONCE = 500;

/** SQL: whether a model may have been shown anything for the run of a trace or session that `t` is. */
const BEGUN = 'EXISTS (SELECT 1 FROM judged_traces AS k WHERE k.run_id = t.id)';

const runsAbout = (span: string) =>
  `judges AS j CROSS JOIN judge_runs AS t ON t.judge_id = j.id AND t.span_id = ${span} WHERE j.project_id = @projectId`;

/** Where the rows about a span are, of which `span` is the SQL for the id. CROSS JOIN: the queue's index begins with the judge. */
export const rowsAbout = (span: string) => ({
  evaluations: `evaluations AS t WHERE t.project_id = @projectId AND t.span_id = ${span}`,
  feedback: `feedback AS t WHERE t.project_id = @projectId AND t.completion_id = ${span}`,
  runs: `${runsAbout(span)} AND (t.subject_id IS NULL OR t.state = 'failed' OR ${BEGUN})`,
  calls: `judge_calls AS t WHERE t.project_id = @projectId AND t.span_id = ${span}`,
  jobs: `job_spans AS w JOIN jobs AS t ON t.id = w.job_id AND t.project_id = @projectId WHERE w.span_id = ${span}`,
  images: `attachment_namings AS t WHERE t.project_id = @projectId AND t.span_id = ${span}`,
  rows: `dataset_rows AS t CROSS JOIN datasets AS d ON d.seq = t.dataset AND d.project_id = @projectId
    WHERE t.span_id = ${span} AND t.content IS NOT NULL`,
  pinned: `judge_pin_examples AS t CROSS JOIN judges AS j ON j.id = t.judge_id AND j.project_id = @projectId WHERE t.span_id = ${span}`,
});
export const ABOUT = rowsAbout('@span');
export const IS_EARLIER = 't.after_deletion < @deletion';
/** Of a span that was sent again, only rows that were there when the deletion was ordered. */
export const IS_MEANT = `(@stays = 0 OR ${IS_EARLIER})`;
const IS_SHOWN = 'EXISTS (SELECT 1 FROM judged_traces AS k WHERE k.run_id = t.run_id)';
/** Evaluations of clients and feedback that were sent after the order did not mean the span. */
const MEANT_EVALUATIONS = `${ABOUT.evaluations} AND ${IS_MEANT} AND (t.origin <> 'external' OR ${IS_EARLIER})`;
/** Of runs and evaluations, those of single spans: the span stands for a whole, see `MEANT_WHOLES`. */
export const MEANT = {
  evaluations: `${MEANT_EVALUATIONS} AND t.subject_id IS NULL`,
  feedback: `${ABOUT.feedback} AND ${IS_EARLIER}`,
  runs: `${runsAbout('@span')} AND ${IS_MEANT} AND t.subject_id IS NULL`,
  calls: `${ABOUT.calls} AND ${IS_MEANT} AND NOT ${IS_SHOWN}`,
  jobs: `${ABOUT.jobs} AND ${IS_MEANT}`,
  // Copies of texts go in any case.
  pinned: ABOUT.pinned,
  // Retention of traces empties no dataset.
  rows: `${ABOUT.rows} AND ${IS_EARLIER}
    AND NOT EXISTS (SELECT 1 FROM deletions WHERE seq = @deletion AND target GLOB 'retention/*')`,
};
/** Ids of the runs and evaluations of traces and sessions for which the span stands. A run that was not begun yet finds another. */
export const MEANT_WHOLES = `SELECT t.id AS run_id FROM ${MEANT_EVALUATIONS} AND t.subject_id IS NOT NULL
  UNION SELECT t.id FROM ${ABOUT.runs} AND ${IS_MEANT} AND t.subject_id IS NOT NULL
  UNION SELECT t.run_id FROM ${ABOUT.calls} AND ${IS_MEANT} AND ${IS_SHOWN}`;
/** What tells whether a project has any rows in a table. */
export const ANY = {
  evaluations: 'evaluations WHERE project_id = ?',
  feedback: 'feedback WHERE project_id = ?',
  runs: 'judges AS j CROSS JOIN judge_runs AS t ON t.judge_id = j.id WHERE j.project_id = ?',
  calls: 'judge_calls WHERE project_id = ?',
  jobs: 'jobs AS t CROSS JOIN job_spans AS w ON w.job_id = t.id WHERE t.project_id = ?',
  images: 'attachment_namings WHERE project_id = ?',
  pinned: 'judges AS j CROSS JOIN judge_pin_examples AS t ON t.judge_id = j.id WHERE j.project_id = ?',
  rows: 'datasets AS d CROSS JOIN dataset_rows AS t ON t.dataset = d.seq WHERE d.project_id = ?',
};
export const TABLES = Object.keys(ANY) as readonly (keyof typeof ANY)[];
export const CHOSEN = '(SELECT value FROM json_each(@keys))';

export interface OfSpan {
  /** Its number: rows that were written after its order name it, or a later one, in `after_deletion`. */
  readonly deletion: number;
  readonly projectId: string;
  readonly span: string;
  readonly stays: 0 | 1;
}

/** How the rows of a table are chosen, by their key. */
export function choice(db: Database, table: keyof typeof MEANT, key: string) {
  return db
    .prepare<OfSpan & { most: number }, string | number>(`SELECT t.${key} FROM ${MEANT[table]} LIMIT @most`)
    .pluck();
}

/** The error of a job that has not ended when a span of it is deleted. */
export const JOB_ERROR = 'A span that the job uses was deleted; start the job again';

/** SQL that notes an item of the deletion for each of some rows, so that it is followed up. */
export function noting(kind: 'run' | 'shown' | 'row', traceId: string, id: string, from: string): string {
  return `INSERT INTO deletion_items (deletion, kind, trace_id, id, started_at)
    SELECT DISTINCT @deletion, '${kind}', ${traceId}, ${id}, 0 FROM ${from}`;
}
