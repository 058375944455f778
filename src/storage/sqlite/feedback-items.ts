import type { FeedbackItems, ItemKey } from '../../domain/feedback/unified.js';
import type { UnifiedItem } from '../../domain/feedback/unified-schema.js';
import { formatTimestamp } from '../../domain/time/timestamp.js';
import { guarded, type Database } from './database.js';
import type { FeedbackRow } from './feedback-store.js';

type HumanRow = FeedbackRow & { readonly email: string | null; readonly name: string };

interface EvaluationRow {
  readonly id: string;
  readonly span_id: string;
  readonly judge_id: string;
  readonly judge_name: string;
  readonly evaluation_type: 'binary' | 'scored';
  readonly evaluation_result: 0 | 1;
  readonly evaluation_reason: string;
  readonly confidence_score: number | null;
  readonly score: number | null;
  readonly score_min: number | null;
  readonly score_max: number | null;
  readonly pass_threshold: number | null;
  readonly criteria_scores: string | null;
  readonly model_used: string | null;
  readonly duration_ms: number | null;
  readonly created_at: number;
}

interface OfSpans {
  readonly projectId: string;
  /** JSON array. */
  readonly spans: string;
}

// CROSS JOIN keeps the order: the spans are few against the table, which is probed by its index.
const keys = (table: string, span: string) =>
  `SELECT t.id, t.created_at FROM json_each(@spans) AS s CROSS JOIN ${table} AS t ON t.project_id = @projectId AND t.${span} = s.value`;
const wanted = 'IN (SELECT value FROM json_each(?))';

function prepare(db: Database) {
  return {
    humanKeys: db.prepare<OfSpans, Omit<ItemKey, 'kind'>>(keys('feedback', 'completion_id')),
    evaluationKeys: db.prepare<OfSpans, Omit<ItemKey, 'kind'>>(keys('evaluations', 'span_id')),
    human: db.prepare<[string], HumanRow>(
      `SELECT f.*, u.email, u.name FROM feedback AS f JOIN users AS u ON u.id = f.user_id WHERE f.id ${wanted}`,
    ),
    evaluations: db.prepare<[string], EvaluationRow>(
      `SELECT e.*, j.name AS judge_name FROM evaluations AS e JOIN judges AS j ON j.id = e.judge_id WHERE e.id ${wanted}`,
    ),
  };
}

/** Feedback and evaluations by span, from the SQLite file. */
export class SqliteFeedbackItems implements FeedbackItems {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  keysOf(projectId: string, spanIds: readonly string[]): ItemKey[] {
    const of = { projectId, spans: JSON.stringify(spanIds) };
    return guarded(() => [
      ...this.#statements.humanKeys.all(of).map((key): ItemKey => ({ kind: 'human_feedback', ...key })),
      ...this.#statements.evaluationKeys.all(of).map((key): ItemKey => ({ kind: 'judge_evaluation', ...key })),
    ]);
  }

  read(items: readonly ItemKey[]): UnifiedItem[] {
    const idsOf = (kind: ItemKey['kind']) =>
      JSON.stringify(items.filter((item) => item.kind === kind).map(({ id }) => id));
    const found = guarded(() => [
      ...this.#statements.human.all(idsOf('human_feedback')).map(toHumanItem),
      ...this.#statements.evaluations.all(idsOf('judge_evaluation')).map(toEvaluationItem),
    ]);
    const byId = new Map(found.map((item) => [`${item.kind} ${item.id}`, item]));
    return items.flatMap(({ kind, id }) => byId.get(`${kind} ${id}`) ?? []);
  }
}

function toHumanItem(row: HumanRow): UnifiedItem {
  return {
    kind: 'human_feedback',
    id: row.id,
    span_id: row.completion_id,
    thumbs_up: row.thumbs_up === 1,
    reason: row.reason,
    ...(row.expected_output === null ? {} : { expected_output: row.expected_output }),
    created_at: formatTimestamp(row.created_at),
    updated_at: formatTimestamp(row.updated_at),
    created_by: { id: row.user_id, email: row.email, name: row.name },
    source_type: row.judge_id === null ? 'human' : 'judge',
    ...(row.judge_id === null ? {} : { judge_id: row.judge_id }),
    ...(row.expected_score === null ? {} : { expected_score: row.expected_score }),
    ...(row.score_direction === null ? {} : { score_direction: row.score_direction }),
    ...(row.criteria_feedback === null ? {} : { criteria_feedback: JSON.parse(row.criteria_feedback) as Criteria }),
  };
}

type Criteria = Record<string, { expected_score: number | null; reason: string | null }>;
type Scores = Record<string, { score: number | null; reason: string | null }>;

function toEvaluationItem(row: EvaluationRow): UnifiedItem {
  return {
    kind: 'judge_evaluation',
    id: row.id,
    span_id: row.span_id,
    automation_id: row.judge_id,
    judge_name: row.judge_name,
    evaluation_result: row.evaluation_result === 1,
    evaluation_reason: row.evaluation_reason,
    confidence_score: row.confidence_score,
    model_used: row.model_used,
    evaluation_duration_ms: row.duration_ms,
    evaluation_type: row.evaluation_type,
    ...(row.evaluation_type === 'binary'
      ? {}
      : {
          score: row.score,
          score_min: row.score_min,
          score_max: row.score_max,
          pass_threshold: row.pass_threshold,
          criteria_scores: JSON.parse(row.criteria_scores ?? '{}') as Scores,
        }),
    created_at: formatTimestamp(row.created_at),
  };
}
