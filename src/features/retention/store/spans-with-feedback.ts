import type { SpansWithFeedback } from '../spans-with-feedback.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';

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
    last: db.prepare<[], number>('SELECT last FROM feedback_arrivals').pluck(),
    since: db.prepare<[string, number, number], { readonly arrival: number; readonly span: string }>(
      'SELECT arrival, completion_id AS span FROM feedback WHERE project_id = ? AND arrival > ? ORDER BY arrival LIMIT ?',
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

  last(): number {
    return guarded(() => this.#statements.last.get() ?? 0);
  }

  since(projectId: string, arrival: number, limit: number) {
    return guarded(() => {
      const rows = this.#statements.since.all(projectId, arrival, limit);
      return { spanIds: rows.map(({ span }) => span), last: rows.at(-1)?.arrival ?? arrival };
    });
  }
}
