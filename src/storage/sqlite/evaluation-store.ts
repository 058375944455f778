import type { Evaluation, NamedEvaluation } from '../../domain/judge/evaluation.js';
import type {
  EvaluationFilter,
  EvaluationOrder,
  EvaluationPage,
  EvaluationStore,
} from '../../domain/judge/evaluation-store.js';
import type { Window } from '../../domain/schema/page.js';
import { guarded, type Database } from './database.js';
import { evaluationColumns, evaluationInsert, toEvaluation, type EvaluationRow } from './evaluation-rows.js';

interface Filtered {
  readonly judgeId: string;
  readonly start: number;
  readonly end: number;
  /** Exact versions of the judge, as JSON. */
  readonly versions: string;
}

const HAS_FEEDBACK =
  'EXISTS (SELECT 1 FROM feedback AS f WHERE f.judge_id = e.judge_id AND f.completion_id = e.span_id)';

const corrected = (condition: string) =>
  `SELECT evaluation_seq FROM corrections WHERE judge_id = @judgeId AND evaluation_seq IS NOT NULL${condition}`;
const WRONG = corrected(' AND thumbs_up = 0');
/** By what people said. Corrections are few, and what they are of is found by its number. */
const SAID = {
  disagreed: `e.seq IN (${WRONG})`,
  agreed: `e.seq IN (${corrected('')}) AND e.seq NOT IN (${WRONG})`,
  unreviewed: `NOT EXISTS (SELECT 1 FROM corrections AS c
    WHERE c.judge_id = e.judge_id AND c.span_id = e.span_id AND c.evaluation_seq >= e.seq)`,
};

/** The conditions of a filter that are not null, but for the agreement. */
function conditionsOf({ result, withFeedback, versions }: EvaluationFilter): string[] {
  return [
    'e.judge_id = @judgeId',
    'e.created_at BETWEEN @start AND @end',
    ...(result === null ? [] : [`e.evaluation_result = ${result ? 1 : 0}`]),
    ...(withFeedback === null ? [] : [withFeedback ? HAS_FEEDBACK : `NOT ${HAS_FEEDBACK}`]),
    ...(versions === null
      ? []
      : [`e.judge_version ${versions === 'external' ? 'IS NULL' : 'IN (SELECT value FROM json_each(@versions))'}`]),
  ];
}

/** The index whose order is that of the list, or that holds the filter. */
function indexFor({ versions }: EvaluationFilter, by: EvaluationOrder['by']): string {
  if (versions !== null) return 'evaluations_by_version';
  return by === 'confidence' ? 'evaluations_by_confidence' : 'evaluations_by_judge';
}

function preparePage(db: Database, filter: EvaluationFilter, { by, descending }: EvaluationOrder) {
  const { agreement } = filter;
  const conditions = conditionsOf(filter);
  const where = [...conditions, ...(agreement === null ? [] : [SAID[agreement]])].join(' AND ');
  const direction = descending ? 'DESC' : 'ASC';
  // Those that were spoken of are found by their numbers; left to choose, SQLite looks through all of the judge's.
  const index =
    agreement === 'disagreed' || agreement === 'agreed' ? 'NOT INDEXED' : `INDEXED BY ${indexFor(filter, by)}`;
  const order = (alias: string) =>
    [
      ...(by === 'confidence' ? [`${alias}.confidence_score ${direction} NULLS LAST`] : []),
      `${alias}.created_at ${direction}`,
      `${alias}.seq ${direction}`,
    ].join(', ');
  const all = `SELECT count(*) FROM evaluations AS e WHERE ${conditions.join(' AND ')}`;
  // Of those that nobody spoke of there may be very many: the others are counted instead.
  const reviewed = `SELECT count(*) FROM (
      SELECT span_id, max(evaluation_seq) AS last FROM corrections WHERE judge_id = @judgeId GROUP BY span_id
    ) AS c CROSS JOIN evaluations AS e INDEXED BY evaluations_by_span
    WHERE e.project_id = (SELECT project_id FROM judges WHERE id = @judgeId) AND e.span_id = c.span_id
      AND e.seq <= c.last AND ${conditions.join(' AND ')}`;
  return {
    // Rows before the page are counted off in the index; only those of the page are read.
    page: db.prepare<Filtered & Window, EvaluationRow>(
      `SELECT ${evaluationColumns('p')} FROM (
         SELECT e.seq FROM evaluations AS e ${index} WHERE ${where} ORDER BY ${order('e')} LIMIT @limit OFFSET @offset
       ) AS found JOIN evaluations AS p ON p.seq = found.seq ORDER BY ${order('p')}`,
    ),
    count: db
      .prepare<Filtered, number>(
        agreement === 'unreviewed'
          ? `SELECT (${all}) - (${reviewed})`
          : `SELECT count(*) FROM evaluations AS e ${agreement === null ? '' : index} WHERE ${where}`,
      )
      .pluck(),
  };
}

/** Evaluations in the SQLite file. */
export class SqliteEvaluationStore implements EvaluationStore {
  readonly #db: Database;
  readonly #insert: (evaluation: Evaluation) => Evaluation;
  readonly #countOfSpan;
  readonly #ofSpan;
  readonly #latest;
  /** Prepared pages by the filters that they use, as text. */
  readonly #pages = new Map<string, ReturnType<typeof preparePage>>();

  constructor(db: Database) {
    this.#db = db;
    this.#insert = evaluationInsert(db);
    this.#countOfSpan = db
      .prepare<[string, string, number], number>(
        'SELECT count(*) FROM (SELECT 1 FROM evaluations WHERE project_id = ? AND span_id = ? LIMIT ?)',
      )
      .pluck();
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

  ofJudge(judgeId: string, filter: EvaluationFilter, window: Window, order: EvaluationOrder): EvaluationPage {
    const { page, count } = this.#page(filter, order);
    const { start, end, versions } = filter;
    const values = {
      judgeId,
      start: start ?? 0,
      end: end ?? Number.MAX_SAFE_INTEGER,
      versions: JSON.stringify(versions),
    };
    return guarded(() =>
      this.#db.transaction(() => ({
        evaluations: page.all({ ...values, ...window }).map(toEvaluation),
        total: count.get(values) ?? 0,
      }))(),
    );
  }

  countOfSpan(projectId: string, spanId: string, most: number): number {
    return guarded(() => this.#countOfSpan.get(projectId, spanId, most) ?? 0);
  }

  ofSpan(projectId: string, spanId: string): NamedEvaluation[] {
    return guarded(() => this.#ofSpan.all(projectId, spanId).map(toEvaluation));
  }

  latest(judgeId: string, spanId: string): Evaluation | undefined {
    const row = guarded(() => this.#latest.get(judgeId, spanId, judgeId));
    return row === undefined ? undefined : toEvaluation(row);
  }

  #page(filter: EvaluationFilter, order: EvaluationOrder) {
    const key = JSON.stringify([conditionsOf(filter), filter.agreement, order.by, order.descending]);
    const known = this.#pages.get(key) ?? preparePage(this.#db, filter, order);
    this.#pages.set(key, known);
    return known;
  }
}
