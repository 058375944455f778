import type { CallNotes } from '../call-notes.js';
import { callTraces } from './judged-traces.js';
import type { Micros } from '../../../engine/timestamp.js';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';

/** Notes of calls of models in the SQLite file. */
export class SqliteCallNotes implements CallNotes {
  readonly #add;
  readonly #remove;
  readonly #removeTraces;
  readonly #addTraces;
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
    // Of a project that was deleted meanwhile nothing is noted.
    this.#add = db.prepare<{ projectId: string; runId: string; spanId: string; at: Micros }>(
      `INSERT INTO judge_calls (run_id, project_id, span_id, created_at, after_deletion)
       SELECT @runId, @projectId, @spanId, @at, ${LAST_DELETION} FROM projects WHERE id = @projectId`,
    );
    this.#remove = db.prepare<[string]>('DELETE FROM judge_calls WHERE run_id = ?');
    this.#removeTraces = db.prepare<[string]>('DELETE FROM judged_traces WHERE run_id = ?');
    this.#addTraces = callTraces(db);
  }

  add(projectId: string, runId: string, spanId: string, at: Micros): void {
    guarded(() => this.#add.run({ projectId, runId, spanId, at }));
  }

  addTraces(projectId: string, runId: string, traceIds: readonly string[]): boolean {
    return transact(this.#db, () => this.#addTraces({ projectId, runId, traceIds }));
  }

  remove(runId: string): void {
    transact(this.#db, () => {
      this.#remove.run(runId);
      this.#removeTraces.run(runId);
    });
  }
}
