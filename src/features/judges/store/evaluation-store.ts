import type { Evaluation, ListedEvaluation } from '../evaluation.js';
import type {
  EvaluationKey,
  EvaluationPlace,
  EvaluationPortion,
  EvaluationSelection,
  EvaluationStore,
} from '../evaluation-store.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Micros } from '../../../engine/timestamp.js';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import { EvaluationPortions } from './evaluation-portions.js';
import { evaluationColumns, evaluationInsert, toEvaluation, type EvaluationRow } from './evaluation-rows.js';

/** Evaluations of a trace or session that a judge made by itself; the index holds all that is asked of them. */
const BY_ITSELF = `evaluations INDEXED BY evaluations_of_wholes
  WHERE judge_id = ? AND subject_id = ? AND origin = 'automatic'`;

function prepare(db: Database) {
  return {
    newest: db.prepare<[], number | null>('SELECT max(seq) FROM evaluations').pluck(),
    read: db.prepare<[number], EvaluationRow & Pick<ListedEvaluation, 'judge_name' | 'judge_subject'>>(
      `SELECT ${evaluationColumns('e')}, j.name AS judge_name, j.subject AS judge_subject
       FROM evaluations AS e JOIN judges AS j ON j.id = e.judge_id
       WHERE e.seq = ?`,
    ),
    countOfSpan: db
      .prepare<[string, string, number], number>(
        'SELECT count(*) FROM (SELECT 1 FROM evaluations WHERE project_id = ? AND span_id = ? LIMIT ?)',
      )
      .pluck(),
    numbersOfSpan: db
      .prepare<[string, string], number>(
        `SELECT seq FROM evaluations INDEXED BY evaluations_by_span WHERE project_id = ? AND span_id = ?
         ORDER BY created_at DESC, seq DESC`,
      )
      .pluck(),
    latest: db.prepare<[string, string, string], EvaluationRow>(
      `SELECT ${evaluationColumns('e')} FROM evaluations AS e
       WHERE e.project_id = (SELECT project_id FROM judges WHERE id = ?) AND e.span_id = ? AND e.judge_id = ?
       ORDER BY e.created_at DESC, e.seq DESC LIMIT 1`,
    ),
    latestOfWhole: db.prepare<[string, string], EvaluationRow>(
      `SELECT ${evaluationColumns('e')} FROM evaluations AS e INDEXED BY evaluations_of_wholes
       WHERE e.judge_id = ? AND e.subject_id = ? ORDER BY e.seq DESC LIMIT 1`,
    ),
    countOfWhole: db
      .prepare<[string, string, number], number>(`SELECT count(*) FROM (SELECT 1 FROM ${BY_ITSELF} LIMIT ?)`)
      .pluck(),
    newestAutomaticUpto: db
      .prepare<[string, string], Micros | null>(`SELECT subject_upto FROM ${BY_ITSELF} ORDER BY seq DESC LIMIT 1`)
      .pluck(),
  };
}

/** Evaluations in the SQLite file. */
export class SqliteEvaluationStore implements EvaluationStore {
  readonly #db: Database;
  readonly #insert: (evaluation: Evaluation) => Evaluation;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #portions: EvaluationPortions;

  constructor(db: Database) {
    this.#db = db;
    this.#insert = evaluationInsert(db);
    this.#statements = prepare(db);
    this.#portions = new EvaluationPortions(db);
  }

  insert(evaluation: Evaluation): Evaluation {
    return transact(this.#db, () => this.#insert(evaluation));
  }

  newest(): number {
    return guarded(() => this.#statements.newest.get() ?? 0);
  }

  portion(of: EvaluationSelection, from: EvaluationPlace | null, most: number, window: Window): EvaluationPortion {
    // One moment, whatever another process writes meanwhile.
    return guarded(() => this.#db.transaction(() => this.#portions.portion(of, from, most, window))());
  }

  ofSpans(of: EvaluationSelection, projectId: string, spanIds: readonly string[]): EvaluationKey[] {
    return guarded(() => this.#portions.ofSpans(of, projectId, spanIds));
  }

  read(number: number): ListedEvaluation | undefined {
    const row = guarded(() => this.#statements.read.get(number));
    return row === undefined ? undefined : toEvaluation(row);
  }

  countOfSpan(projectId: string, spanId: string, most: number): number {
    return guarded(() => this.#statements.countOfSpan.get(projectId, spanId, most) ?? 0);
  }

  numbersOfSpan(projectId: string, spanId: string): number[] {
    return guarded(() => this.#statements.numbersOfSpan.all(projectId, spanId));
  }

  latest(judgeId: string, spanId: string): Evaluation | undefined {
    const row = guarded(() => this.#statements.latest.get(judgeId, spanId, judgeId));
    return row === undefined ? undefined : toEvaluation(row);
  }

  latestOfWhole(judgeId: string, subjectId: string): Evaluation | undefined {
    const row = guarded(() => this.#statements.latestOfWhole.get(judgeId, subjectId));
    return row === undefined ? undefined : toEvaluation(row);
  }

  countOfWhole(judgeId: string, subjectId: string, most: number): number {
    return guarded(() => this.#statements.countOfWhole.get(judgeId, subjectId, most) ?? 0);
  }

  newestAutomaticUpto(judgeId: string, subjectId: string): Micros | null {
    return guarded(() => this.#statements.newestAutomaticUpto.get(judgeId, subjectId) ?? null);
  }
}
