import { guarded, type Database } from '../../../engine/metadata/database.js';
import type { ExpectedOutputs } from '../expected-outputs.js';

/** What people expected of spans, from the SQLite file. */
export class SqliteExpectedOutputs implements ExpectedOutputs {
  readonly #of;

  constructor(db: Database) {
    // Of several people, the one who spoke last.
    this.#of = db.prepare<[string, string], { id: string; expected: string }>(
      `SELECT completion_id AS id, expected_output AS expected FROM feedback
       WHERE project_id = ? AND completion_id IN (SELECT value FROM json_each(?)) AND judge_id IS NULL AND expected_output IS NOT NULL
       ORDER BY updated_at, id`,
    );
  }

  of(projectId: string, spanIds: readonly string[]): ReadonlyMap<string, string> {
    const rows = guarded(() => this.#of.all(projectId, JSON.stringify(spanIds)));
    return new Map(rows.map(({ id, expected }) => [id, expected]));
  }
}
