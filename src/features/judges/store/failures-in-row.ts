import type { Database } from '../../../engine/metadata/database.js';
import type { Run } from '../run.js';

type OfWhole = Pick<Run, 'judge_id' | 'subject_id'>;

/**
 * How often in a row judges failed on traces and sessions whose failed runs are no longer kept. It is noted beside the calls of the
 * run, of which a row is kept anyway, and goes with them: once what they showed is deleted.
 */
export class FailuresInRow {
  readonly #keep;
  readonly #of;
  readonly #end;

  /** @param pruned SQL that chooses the failed runs that go */
  constructor(db: Database, pruned: string) {
    this.#keep = db.prepare<object>(
      `INSERT INTO judge_calls (run_id, project_id, span_id, created_at, after_deletion, judge_id, subject_id, failed)
       SELECT id, project_id, span_id, created_at, after_deletion, judge_id, subject_id, failed_before + 1 FROM judge_runs
       WHERE ${pruned} AND subject_id IS NOT NULL AND origin = 'automatic'
       ON CONFLICT (run_id) DO UPDATE SET judge_id = excluded.judge_id, subject_id = excluded.subject_id, failed = excluded.failed`,
    );
    const noted = 'judge_calls WHERE judge_id = @judge_id AND subject_id = @subject_id AND subject_id IS NOT NULL';
    this.#of = db.prepare<OfWhole, number | null>(`SELECT max(failed) FROM ${noted}`).pluck();
    this.#end = db.prepare<OfWhole>(
      `UPDATE judge_calls SET judge_id = NULL, subject_id = NULL, failed = NULL
       WHERE run_id IN (SELECT run_id FROM ${noted})`,
    );
  }

  /** Call before runs go, in the same transaction. @param of what chooses them */
  keep(of: object): void {
    this.#keep.run(of);
  }

  of({ judge_id, subject_id }: OfWhole): number {
    return this.#of.get({ judge_id, subject_id: subject_id ?? null }) ?? 0;
  }

  /** It did not fail, or is to be tried again in any case. */
  end({ judge_id, subject_id }: OfWhole): void {
    if (subject_id != null) this.#end.run({ judge_id, subject_id });
  }
}
