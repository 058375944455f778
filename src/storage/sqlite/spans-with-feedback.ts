import type { FeedbackPlace, SpansWithFeedback } from '../../domain/retention/old-traces.js';
import { guarded, type Database } from './database.js';

function prepare(db: Database) {
  return {
    among: db
      .prepare<[string, string], string>(
        'SELECT DISTINCT completion_id FROM feedback WHERE project_id = ? AND completion_id IN (SELECT value FROM json_each(?))',
      )
      .pluck(),
    page: db
      .prepare<[string, string, number], string>(
        'SELECT DISTINCT completion_id FROM feedback WHERE project_id = ? AND completion_id > ? ORDER BY completion_id LIMIT ?',
      )
      .pluck(),
    last: db.prepare<[], FeedbackPlace>('SELECT rowid AS row, id FROM feedback ORDER BY rowid DESC LIMIT 1'),
    id: db.prepare<[number], string>('SELECT id FROM feedback WHERE rowid = ?').pluck(),
    since: db.prepare<[number, string, number], FeedbackPlace & { readonly span: string }>(
      'SELECT rowid AS row, id, completion_id AS span FROM feedback WHERE rowid > ? AND project_id = ? ORDER BY rowid LIMIT ?',
    ),
  };
}

/** Which spans have feedback, by the index of `feedback` that begins with them. */
export class SqliteSpansWithFeedback implements SpansWithFeedback {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  among(projectId: string, spanIds: readonly string[]): string[] {
    return guarded(() => this.#statements.among.all(projectId, JSON.stringify(spanIds)));
  }

  page(projectId: string, after: string, limit: number): string[] {
    return guarded(() => this.#statements.page.all(projectId, after, limit));
  }

  last(): FeedbackPlace {
    return guarded(() => this.#statements.last.get() ?? { row: 0, id: '' });
  }

  since(projectId: string, { row, id }: FeedbackPlace, limit: number) {
    return guarded(() => {
      // SQLite numbers rows from the highest there is: while that stays, whatever comes is behind it.
      if (row > 0 && this.#statements.id.get(row) !== id) return null;
      const rows = this.#statements.since.all(row, projectId, limit);
      const last = rows.at(-1);
      return {
        spanIds: rows.map(({ span }) => span),
        last: last === undefined ? { row, id } : { row: last.row, id: last.id },
      };
    });
  }
}
