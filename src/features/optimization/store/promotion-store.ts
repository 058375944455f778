import type { PromotionStore } from '../promotion-store.js';
import type { Micros } from '../../../engine/timestamp.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';

/** Which candidates became versions, in the SQLite file. */
export class SqlitePromotionStore implements PromotionStore {
  readonly #ofJob;
  readonly #add;

  constructor(db: Database) {
    this.#ofJob = db.prepare<[string], { candidate_id: string; version: number }>(
      'SELECT candidate_id, version FROM promotions WHERE job_id = ?',
    );
    this.#add = db.prepare<[string, string, number, Micros, string]>(
      `INSERT INTO promotions (job_id, candidate_id, version, promoted_at, promoted_by) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    );
  }

  ofJob(jobId: string): Map<string, number> {
    const rows = guarded(() => this.#ofJob.all(jobId));
    return new Map(rows.map(({ candidate_id, version }) => [candidate_id, version]));
  }

  add(jobId: string, candidateId: string, version: number, by: string, at: Micros): void {
    guarded(() => this.#add.run(jobId, candidateId, version, at, by));
  }
}
