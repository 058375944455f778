import type { CriteriaScores, Evaluation } from '../evaluation.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { Database } from '../../../engine/metadata/database.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';

export type EvaluationRow = Omit<Evaluation, 'evaluation_result' | 'criteria_scores'> & {
  readonly evaluation_result: number;
  readonly criteria_scores: string | null;
};

const COLUMNS = [
  'id',
  'project_id',
  'judge_id',
  'span_id',
  'trace_id',
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
  'subject_id',
  'subject_upto',
  'created_at',
] as const satisfies readonly (keyof EvaluationRow)[];

/** The columns of an evaluation, of the table with this alias. */
export const evaluationColumns = (alias: string) => COLUMNS.map((name) => `${alias}.${name}`).join(', ');

/** The fields of an evaluation that the count of its version needs. */
type CountedEvaluation = Pick<Evaluation, 'judge_id' | 'prompt_version_id' | 'created_at'> & {
  readonly judge_version: string;
  readonly seq: number | bigint;
};

/**
 * The one way in which evaluations are stored and counted for their version, inside a transaction of the caller's.
 * @param asTheyAre whether they keep their times, as those from elsewhere do
 */
export function evaluationInsert(db: Database, asTheyAre = false): (evaluation: Evaluation) => Evaluation {
  // Of the judge alone: whatever times a project has, those of others follow the clock.
  const newest = db
    .prepare<[string], Micros | null>('SELECT max(created_at) FROM evaluations WHERE judge_id = ?')
    .pluck();
  const insert = db.prepare<EvaluationRow>(
    `INSERT INTO evaluations (${COLUMNS.join(', ')}, row_key, after_deletion)
     VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')}, @row_key, ${LAST_DELETION})`,
  );
  const count = db.prepare<CountedEvaluation>(
    `INSERT INTO judge_versions (judge_id, judge_version, prompt_version_id, first_seq, began_at, evaluations)
     VALUES (@judge_id, @judge_version, @prompt_version_id, @seq, @created_at, 1)
     ON CONFLICT (judge_id, judge_version) DO UPDATE SET evaluations = evaluations + 1`,
  );
  return (evaluation) => {
    // Pages are in the order of storing, and times must not contradict it when the clock went back.
    const earliest = asTheyAre ? 0 : (newest.get(evaluation.judge_id) ?? 0);
    const stored = { ...evaluation, created_at: Math.max(evaluation.created_at, earliest) };
    const { lastInsertRowid: seq } = insert.run({
      ...stored,
      row_key: stored.row_key ?? null,
      subject_id: stored.subject_id ?? null,
      subject_upto: stored.subject_upto ?? null,
      evaluation_result: stored.evaluation_result ? 1 : 0,
      criteria_scores: stored.criteria_scores === null ? null : JSON.stringify(stored.criteria_scores),
    });
    const { judge_id, judge_version, prompt_version_id, created_at } = stored;
    if (judge_version !== null) count.run({ judge_id, judge_version, prompt_version_id, created_at, seq });
    return stored;
  };
}

/**
 * Removes the evaluations that a condition chooses, inside a transaction of the caller's, and answers how many. They no
 * longer count for their versions; their corrections have to be gone by then.
 */
export function evaluationRemoval(db: Database, where: string): (values: object) => number {
  const remove = db.prepare<object, Pick<Evaluation, 'judge_id' | 'judge_version'>>(
    `DELETE FROM evaluations WHERE ${where} RETURNING judge_id, judge_version`,
  );
  const discount = db.prepare<[string, string]>(
    'UPDATE judge_versions SET evaluations = evaluations - 1 WHERE judge_id = ? AND judge_version = ?',
  );
  return (values) => {
    const removed = remove.all(values);
    for (const { judge_id, judge_version } of removed)
      if (judge_version !== null) discount.run(judge_id, judge_version);
    return removed.length;
  };
}

export function toEvaluation<R extends EvaluationRow>(row: R) {
  return {
    ...row,
    evaluation_result: row.evaluation_result === 1,
    criteria_scores: row.criteria_scores === null ? null : (JSON.parse(row.criteria_scores) as CriteriaScores),
  };
}
