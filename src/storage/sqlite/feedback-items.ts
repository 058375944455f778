import type { EvaluationItem, FeedbackItems, HumanItem, ItemKey, UnifiedItem } from '../../domain/feedback/unified.js';
import { guarded, type Database } from './database.js';
import { evaluationColumns, toEvaluation, type EvaluationRow } from './evaluation-rows.js';
import { toCriteriaFeedback, type FeedbackRow } from './feedback-store.js';

type HumanRow = FeedbackRow & { readonly email: string | null; readonly name: string };

type NamedEvaluationRow = EvaluationRow & { readonly judge_name: string };

interface OfSpans {
  readonly projectId: string;
  /** JSON array of span ids. */
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
    evaluations: db.prepare<[string], NamedEvaluationRow>(
      `SELECT ${evaluationColumns('e')}, j.name AS judge_name FROM evaluations AS e JOIN judges AS j ON j.id = e.judge_id WHERE e.id ${wanted}`,
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
    const byId = new Map(found.map((item) => [keyOf(item), item]));
    return items.flatMap(({ kind, id }) => byId.get(`${kind} ${id}`) ?? []);
  }
}

function toHumanItem({ email, name, ...row }: HumanRow): HumanItem {
  const { metadata: _metadata, ...feedback } = row;
  return {
    kind: 'human_feedback',
    feedback: { ...feedback, thumbs_up: row.thumbs_up === 1, criteria_feedback: toCriteriaFeedback(row) },
    author: { id: row.user_id, email, name },
  };
}

function toEvaluationItem(row: NamedEvaluationRow): EvaluationItem {
  return { kind: 'judge_evaluation', evaluation: toEvaluation(row) };
}

function keyOf(item: UnifiedItem): string {
  return `${item.kind} ${item.kind === 'human_feedback' ? item.feedback.id : item.evaluation.id}`;
}
