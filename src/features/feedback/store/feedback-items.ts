import type { ItemKey, ItemKind } from '../item-keys.js';
import type { FeedbackItems } from '../unified.js';
import type { EvaluationItem, HumanItem, UnifiedItem } from '../unified-items.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';
import { evaluationColumns, toEvaluation, type EvaluationRow } from '../../judges/store/evaluation-rows.js';
import { toCriteriaFeedback } from './feedback-store.js';
import type { FeedbackRow } from './feedback-row.js';

type HumanRow = FeedbackRow & { readonly email: string | null; readonly name: string };

type NamedEvaluationRow = EvaluationRow & { readonly judge_name: string };

interface OfSpans {
  readonly projectId: string;
  /** JSON array of span ids. */
  readonly spans: string;
  readonly most: number;
}

/** A portion of the items of one span, behind a place in the order of an index. */
interface OfSpan {
  readonly projectId: string;
  readonly span: string;
  readonly most: number;
}

interface HumanPlace {
  readonly user: string;
  readonly judge: string;
}

interface EvaluationPlace {
  readonly created_at: number;
  readonly number: number;
}

interface Wanted {
  readonly projectId: string;
  /** JSON array of pairs: the number and the time of an item. */
  readonly keys: string;
}

type Numbered<Row> = Row & { readonly number: number };

// CROSS JOIN keeps the order: the spans are few against the table, which is probed by its index.
const keysOf = (kind: ItemKind, table: string, span: string) =>
  `SELECT '${kind}' AS kind, t.rowid AS number, t.created_at
   FROM json_each(@spans) AS s CROSS JOIN ${table} AS t ON t.project_id = @projectId AND t.${span} = s.value`;
/** Feedback that comes meanwhile may get the number of some that has gone. */
const isWanted = (table: string) =>
  `json_each(@keys) AS k CROSS JOIN ${table} ON t.rowid = k.value ->> 0 AND t.created_at = k.value ->> 1 AND t.project_id = @projectId`;

function prepare(db: Database) {
  return {
    keys: db.prepare<OfSpans, ItemKey>(
      `${keysOf('human_feedback', 'feedback', 'completion_id')}
       UNION ALL ${keysOf('judge_evaluation', 'evaluations', 'span_id')} LIMIT @most`,
    ),
    humanOfSpan: db.prepare<OfSpan & HumanPlace, ItemKey & HumanPlace>(
      `SELECT 'human_feedback' AS kind, rowid AS number, created_at, user_id AS user, coalesce(judge_id, '') AS judge
       FROM feedback INDEXED BY feedback_by_completion
       WHERE project_id = @projectId AND completion_id = @span AND user_id >= @user
         AND (user_id > @user OR coalesce(judge_id, '') > @judge)
       ORDER BY user_id, coalesce(judge_id, '') LIMIT @most`,
    ),
    evaluationsOfSpan: db.prepare<OfSpan & EvaluationPlace, ItemKey>(
      `SELECT 'judge_evaluation' AS kind, seq AS number, created_at FROM evaluations INDEXED BY evaluations_by_span
       WHERE project_id = @projectId AND span_id = @span AND (created_at, seq) > (@created_at, @number)
       ORDER BY created_at, seq LIMIT @most`,
    ),
    human: db.prepare<Wanted, Numbered<HumanRow>>(
      `SELECT t.*, t.rowid AS number, u.email, u.name FROM ${isWanted('feedback AS t')} JOIN users AS u ON u.id = t.user_id`,
    ),
    evaluations: db.prepare<Wanted, Numbered<NamedEvaluationRow>>(
      `SELECT ${evaluationColumns('t')}, t.rowid AS number, j.name AS judge_name
       FROM ${isWanted('evaluations AS t')} JOIN judges AS j ON j.id = t.judge_id`,
    ),
  };
}

/** Feedback and evaluations by span, from the SQLite file. */
export class SqliteFeedbackItems implements FeedbackItems {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  keysOf(projectId: string, spanIds: readonly string[], most: number): ItemKey[] | null {
    const of = { projectId, spans: JSON.stringify(spanIds), most: most + 1 };
    const keys = guarded(() => this.#statements.keys.all(of));
    return keys.length > most ? null : keys;
  }

  *keysOfSpan(projectId: string, span: string, most: number): Generator<readonly ItemKey[]> {
    const { humanOfSpan, evaluationsOfSpan } = this.#statements;
    const of = { projectId, span, most };
    let person: HumanPlace | undefined = { user: '', judge: '' };
    while (person !== undefined) {
      const after: HumanPlace = person;
      const keys: readonly (ItemKey & HumanPlace)[] = guarded(() => humanOfSpan.all({ ...of, ...after }));
      if (keys.length > 0) yield keys;
      person = keys.at(-1);
    }
    let evaluation: EvaluationPlace | undefined = { created_at: Number.MIN_SAFE_INTEGER, number: 0 };
    while (evaluation !== undefined) {
      const after: EvaluationPlace = evaluation;
      const keys: readonly ItemKey[] = guarded(() => evaluationsOfSpan.all({ ...of, ...after }));
      if (keys.length > 0) yield keys;
      evaluation = keys.at(-1);
    }
  }

  read(projectId: string, keys: readonly ItemKey[]): UnifiedItem[] {
    const wanted = (kind: ItemKind) => {
      const pairs = keys.filter((key) => key.kind === kind).map(({ number, created_at }) => [number, created_at]);
      return { projectId, keys: JSON.stringify(pairs) };
    };
    const found = new Map<string, UnifiedItem>();
    guarded(() => {
      for (const { number, ...row } of this.#statements.human.all(wanted('human_feedback')))
        found.set(`human_feedback ${number}`, toHumanItem(row));
      for (const { number, ...row } of this.#statements.evaluations.all(wanted('judge_evaluation')))
        found.set(`judge_evaluation ${number}`, toEvaluationItem(row));
    });
    return keys.flatMap(({ kind, number }) => found.get(`${kind} ${number}`) ?? []);
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
