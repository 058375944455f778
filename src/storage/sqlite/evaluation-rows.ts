import type { CriteriaScores, Evaluation } from '../../domain/judge/evaluation.js';
import type { Micros } from '../../domain/time/timestamp.js';
import type { Database } from './database.js';

export type EvaluationRow = Omit<Evaluation, 'evaluation_result' | 'criteria_scores'> & {
  readonly evaluation_result: number;
  readonly criteria_scores: string | null;
};

const COLUMNS = [
  'id',
  'project_id',
  'judge_id',
  'span_id',
  'origin',
  'evaluation_type',
  'evaluation_result',
  'evaluation_reason',
  'confidence_score',
  'score',
  'score_min',
  'score_max',
  'pass_threshold',
  'criteria_scores',
  'model_used',
  'duration_ms',
  'prompt_version_id',
  'judge_version',
  'created_at',
] as const satisfies readonly (keyof EvaluationRow)[];

/** The columns of an evaluation, of the table with this alias. */
export const evaluationColumns = (alias: string) => COLUMNS.map((name) => `${alias}.${name}`).join(', ');

/** The one way in which evaluations are stored, inside a transaction of the caller's. */
export function evaluationInsert(db: Database): (evaluation: Evaluation) => Evaluation {
  const newest = db.prepare<[], Micros>('SELECT created_at FROM evaluations ORDER BY seq DESC LIMIT 1').pluck();
  const insert = db.prepare<EvaluationRow>(
    `INSERT INTO evaluations (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')})`,
  );
  return (evaluation) => {
    // Pages are in the order of storing, and times must not contradict it when the clock went back.
    const stored = { ...evaluation, created_at: Math.max(evaluation.created_at, newest.get() ?? 0) };
    insert.run({
      ...stored,
      evaluation_result: stored.evaluation_result ? 1 : 0,
      criteria_scores: stored.criteria_scores === null ? null : JSON.stringify(stored.criteria_scores),
    });
    return stored;
  };
}

export function toEvaluation<R extends EvaluationRow>(row: R) {
  return {
    ...row,
    evaluation_result: row.evaluation_result === 1,
    criteria_scores: row.criteria_scores === null ? null : (JSON.parse(row.criteria_scores) as CriteriaScores),
  };
}
