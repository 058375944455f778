import type { Evaluation, NamedEvaluation } from '../../domain/judge/evaluation.js';
import type { EvaluationFilter, EvaluationPage, EvaluationStore } from '../../domain/judge/evaluation-store.js';
import type { Window } from '../../domain/schema/page.js';
import { guarded, type Database } from './database.js';
import { evaluationColumns, evaluationInsert, toEvaluation, type EvaluationRow } from './evaluation-rows.js';

type Filtered = { readonly judgeId: string; readonly start: number; readonly end: number };

const HAS_FEEDBACK =
  'EXISTS (SELECT 1 FROM feedback AS f WHERE f.judge_id = e.judge_id AND f.completion_id = e.span_id)';

/** Evaluations in the SQLite file. */
export class SqliteEvaluationStore implements EvaluationStore {
  readonly #db: Database;
  readonly #insert: (evaluation: Evaluation) => Evaluation;
  readonly #ofSpan;
  readonly #latest;
  /** Prepared pages by the filters that they use, as text. */
  readonly #pages = new Map<string, ReturnType<SqliteEvaluationStore['preparePage']>>();

  constructor(db: Database) {
    this.#db = db;
    this.#insert = evaluationInsert(db);
    this.#ofSpan = db.prepare<[string, string], EvaluationRow & { judge_name: string }>(
      `SELECT ${evaluationColumns('e')}, j.name AS judge_name FROM evaluations AS e JOIN judges AS j ON j.id = e.judge_id
       WHERE e.project_id = ? AND e.span_id = ? ORDER BY e.created_at DESC, e.seq DESC`,
    );
    this.#latest = db.prepare<[string, string, string], EvaluationRow>(
      `SELECT ${evaluationColumns('e')} FROM evaluations AS e
       WHERE e.project_id = (SELECT project_id FROM judges WHERE id = ?) AND e.span_id = ? AND e.judge_id = ?
       ORDER BY e.created_at DESC, e.seq DESC LIMIT 1`,
    );
  }

  insert(evaluation: Evaluation): Evaluation {
    return guarded(() => this.#db.transaction(() => this.#insert(evaluation)).immediate());
  }

  ofJudge(judgeId: string, filter: EvaluationFilter, window: Window, descending: boolean): EvaluationPage {
    const { page, count } = this.#page(filter, descending);
    const values = { judgeId, start: filter.start ?? 0, end: filter.end ?? Number.MAX_SAFE_INTEGER };
    return guarded(() =>
      this.#db.transaction(() => ({
        evaluations: page.all({ ...values, ...window }).map(toEvaluation),
        total: count.get(values) ?? 0,
      }))(),
    );
  }

  ofSpan(projectId: string, spanId: string): NamedEvaluation[] {
    return guarded(() => this.#ofSpan.all(projectId, spanId).map(toEvaluation));
  }

  latest(judgeId: string, spanId: string): Evaluation | undefined {
    const row = guarded(() => this.#latest.get(judgeId, spanId, judgeId));
    return row === undefined ? undefined : toEvaluation(row);
  }

  #page({ result, withFeedback }: EvaluationFilter, descending: boolean) {
    const conditions = [
      ...(result === null ? [] : [`e.evaluation_result = ${result ? 1 : 0}`]),
      ...(withFeedback === null ? [] : [withFeedback ? HAS_FEEDBACK : `NOT ${HAS_FEEDBACK}`]),
    ];
    const key = [...conditions, descending].join(' AND ');
    const known = this.#pages.get(key) ?? this.preparePage(conditions, descending);
    this.#pages.set(key, known);
    return known;
  }

  private preparePage(conditions: readonly string[], descending: boolean) {
    const where = ['e.judge_id = @judgeId', 'e.created_at BETWEEN @start AND @end', ...conditions].join(' AND ');
    const direction = descending ? 'DESC' : 'ASC';
    return {
      // Rows before the page are counted off in the index; only those of the page are read.
      page: this.#db.prepare<Filtered & Window, EvaluationRow>(
        `SELECT ${evaluationColumns('p')} FROM (
           SELECT e.seq FROM evaluations AS e WHERE ${where}
           ORDER BY e.created_at ${direction}, e.seq ${direction} LIMIT @limit OFFSET @offset
         ) AS found JOIN evaluations AS p ON p.seq = found.seq ORDER BY p.created_at ${direction}, p.seq ${direction}`,
      ),
      count: this.#db.prepare<Filtered, number>(`SELECT count(*) FROM evaluations AS e WHERE ${where}`).pluck(),
    };
  }
}
