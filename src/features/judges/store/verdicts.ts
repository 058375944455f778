import type { SpanVerdicts, Verdicts } from '../../../engine/traces/model/trace/outline.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';

interface OfSpans {
  readonly projectId: string;
  /** JSON array of span ids. */
  readonly spans: string;
}

// CROSS JOIN keeps the order: the spans are few against the table, which is probed by its index.
function prepare(db: Database) {
  return {
    // With max(), the other columns are those of the latest row.
    evaluations: db.prepare<OfSpans, SpanVerdicts>(
      `SELECT span_id, sum(passed) AS good, sum(1 - passed) AS bad FROM (
         SELECT e.span_id, e.evaluation_result AS passed, max(e.seq) FROM json_each(@spans) AS s
         CROSS JOIN evaluations AS e ON e.project_id = @projectId AND e.span_id = s.value
         GROUP BY e.span_id, e.judge_id
       ) GROUP BY span_id`,
    ),
    feedback: db.prepare<OfSpans, SpanVerdicts>(
      `SELECT f.completion_id AS span_id, sum(f.thumbs_up) AS good, sum(1 - f.thumbs_up) AS bad FROM json_each(@spans) AS s
       CROSS JOIN feedback AS f ON f.project_id = @projectId AND f.completion_id = s.value
       WHERE f.judge_id IS NULL GROUP BY f.completion_id`,
    ),
  };
}

/** What judges and people say of spans, counted, from the SQLite file. */
export class SqliteVerdicts implements Verdicts {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  evaluations(projectId: string, spanIds: readonly string[]): SpanVerdicts[] {
    return guarded(() => this.#statements.evaluations.all({ projectId, spans: JSON.stringify(spanIds) }));
  }

  feedback(projectId: string, spanIds: readonly string[]): SpanVerdicts[] {
    return guarded(() => this.#statements.feedback.all({ projectId, spans: JSON.stringify(spanIds) }));
  }
}
