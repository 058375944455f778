import type { Database } from '../../../engine/metadata/database.js';

/** Traces that a judge was shown for one run, or evaluation. */
export interface JudgedTraces {
  readonly projectId: string;
  readonly runId: string;
  readonly traceIds: readonly string[];
}

/** How a whole is noted of which a run, an evaluation or a note of calls with the id is there, in a transaction of the caller's. */
function noting(db: Database, isThere: string): (traces: JudgedTraces) => boolean {
  const there = db.prepare<[string], number>(`SELECT 1 WHERE EXISTS (SELECT 1 FROM ${isThere})`).pluck();
  const insert = db.prepare<[string, string, string]>(
    'INSERT INTO judged_traces (project_id, run_id, trace_id) SELECT ?, ?, value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING',
  );
  return ({ projectId, runId, traceIds }) => {
    if (there.get(runId) === undefined) return false;
    insert.run(projectId, runId, JSON.stringify(traceIds));
    return true;
  };
}

/**
 * Notes the traces that a queued run is about to show a model, beside those that earlier attempts showed.
 * @returns whether the run is still queued: else nothing may be shown
 */
export const runTraces = (db: Database) => noting(db, `judge_runs WHERE id = ? AND state = 'queued'`);

/** Notes the traces of calls that `judge_calls` tells of. */
export const callTraces = (db: Database) => noting(db, 'judge_calls WHERE run_id = ?');

/** Notes the traces of an evaluation that comes from elsewhere. */
export const evaluationTraces = (db: Database) => noting(db, 'evaluations WHERE id = ?');
