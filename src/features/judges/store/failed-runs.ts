import { randomUUID } from 'node:crypto';
import type { Micros } from '../../../engine/timestamp.js';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';
import type { Run } from '../run.js';
import type { FailuresInRow } from './failures-in-row.js';

/** Of what failed until then: neither waiting again, nor failed again, nor evaluated since. */
const TO_RETRY = `judge_runs AS r WHERE judge_id = @judgeId AND state = 'failed' AND updated_at < @before
  AND iif(r.subject_id IS NULL,
    NOT EXISTS (SELECT 1 FROM judge_runs AS other
      WHERE other.judge_id = r.judge_id AND other.span_id = r.span_id AND (other.state = 'queued' OR other.seq > r.seq))
    AND NOT EXISTS (SELECT 1 FROM evaluations AS e INDEXED BY evaluations_by_span
      WHERE e.project_id = r.project_id AND e.span_id = r.span_id AND e.judge_id = r.judge_id AND e.created_at >= r.updated_at),
    NOT EXISTS (SELECT 1 FROM judge_runs AS other
      WHERE other.judge_id = r.judge_id AND other.subject_id = r.subject_id AND (other.state = 'queued' OR other.seq > r.seq))
    AND NOT EXISTS (SELECT 1 FROM evaluations AS e
      WHERE e.judge_id = r.judge_id AND e.subject_id = r.subject_id AND e.created_at >= r.updated_at))`;

function prepare(db: Database) {
  return {
    count: db.prepare<{ judgeId: string; before: Micros }, number>(`SELECT count(*) FROM ${TO_RETRY}`).pluck(),
    oldest: db.prepare<{ judgeId: string; before: Micros; limit: number }, Pick<Run, 'id' | 'judge_id' | 'subject_id'>>(
      `SELECT id, judge_id, subject_id FROM ${TO_RETRY} ORDER BY seq LIMIT @limit`,
    ),
    noteCalls: db.prepare<[string]>(
      `INSERT INTO judge_calls (run_id, project_id, span_id, created_at, after_deletion)
       SELECT id, project_id, span_id, created_at, after_deletion FROM judge_runs WHERE id = ? AND attempts > 0 ON CONFLICT DO NOTHING`,
    ),
    // Its calls get their ids from its own: with another, they do not replace those of the attempts that failed.
    requeue: db.prepare<{ id: string; newId: string; at: Micros }>(
      `UPDATE judge_runs SET id = @newId, state = 'queued', attempts = 0, failed_before = 0, reason = NULL, next_attempt_at = @at,
         created_at = @at, updated_at = @at, after_deletion = ${LAST_DELETION}
       WHERE id = @id`,
    ),
  };
}

/** Failed runs in the SQLite file, to be tried again. */
export class FailedRuns {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  readonly #inRow: Pick<FailuresInRow, 'end'>;

  constructor(db: Database, inRow: Pick<FailuresInRow, 'end'>) {
    this.#db = db;
    this.#inRow = inRow;
    this.#statements = prepare(db);
  }

  retry(judgeId: string, before: Micros, limit: number): number {
    const { oldest, noteCalls, requeue } = this.#statements;
    return transact(this.#db, () => {
      const failed = oldest.all({ judgeId, before, limit });
      for (const run of failed) {
        noteCalls.run(run.id);
        this.#inRow.end(run);
        requeue.run({ id: run.id, newId: randomUUID(), at: before });
      }
      return failed.length;
    });
  }

  count(judgeId: string, before: Micros): number {
    return guarded(() => this.#statements.count.get({ judgeId, before }) ?? 0);
  }
}
