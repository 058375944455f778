import type { Database } from '../../../engine/metadata/database.js';
import type { FeedbackRow } from './feedback-row.js';

type Given = FeedbackRow & { readonly judge_id: string };

/**
 * Writes the correction that feedback on a judge's verdict is, inside the transaction that stores the feedback. It is of
 * the latest evaluation of the span by the judge, and makes the next revision of the judge's set of corrections. One that
 * says what is known already, such as a client's retry, changes nothing.
 */
export function correctionWriter(db: Database): (feedback: Given) => void {
  const latestEvaluation = db
    .prepare<Given, number | null>(
      `SELECT max(seq) FROM evaluations
       WHERE project_id = @project_id AND span_id = @completion_id AND judge_id = @judge_id`,
    )
    .pluck();
  const setRevision = db.prepare<[string], number>('SELECT revision FROM correction_sets WHERE judge_id = ?').pluck();
  const write = db.prepare<Given & { evaluation_seq: number | null; revision: number }>(
    `INSERT INTO corrections (feedback_id, judge_id, span_id, user_id, evaluation_seq, revision, thumbs_up, reason,
       expected_output, expected_score, score_direction, criteria_feedback, given_at)
     VALUES (@id, @judge_id, @completion_id, @user_id, @evaluation_seq, @revision, @thumbs_up, @reason,
       @expected_output, @expected_score, @score_direction, @criteria_feedback, @updated_at)
     ON CONFLICT (feedback_id, coalesce(evaluation_seq, 0)) DO UPDATE SET
       revision = excluded.revision, thumbs_up = excluded.thumbs_up, reason = excluded.reason,
       expected_output = excluded.expected_output, expected_score = excluded.expected_score,
       score_direction = excluded.score_direction, criteria_feedback = excluded.criteria_feedback,
       given_at = excluded.given_at
     WHERE (thumbs_up, reason, expected_output, expected_score, score_direction, criteria_feedback) IS NOT
       (excluded.thumbs_up, excluded.reason, excluded.expected_output, excluded.expected_score,
        excluded.score_direction, excluded.criteria_feedback)`,
  );
  const advanceSet = db.prepare<[string, number]>(
    `INSERT INTO correction_sets (judge_id, revision, last_removal) VALUES (?, ?, 0)
     ON CONFLICT (judge_id) DO UPDATE SET revision = excluded.revision`,
  );
  const removeOfNoEvaluation = db.prepare<[string]>(
    'DELETE FROM corrections WHERE feedback_id = ? AND evaluation_seq IS NULL',
  );

  return (feedback) => {
    const { id, judge_id } = feedback;
    const evaluation_seq = latestEvaluation.get(feedback) ?? null;
    // A correction of no evaluation is no example, so that the set stays what it is.
    const revision = (setRevision.get(judge_id) ?? 0) + (evaluation_seq === null ? 0 : 1);
    const { changes } = write.run({ ...feedback, evaluation_seq, revision });
    if (changes > 0) advanceSet.run(judge_id, revision);
    // A correction from before there was an evaluation is replaced by the one of this evaluation.
    if (evaluation_seq !== null) removeOfNoEvaluation.run(id);
  };
}

/**
 * Removes the corrections that a condition chooses, inside a transaction of the caller's, and answers how many. Each that
 * was of an evaluation makes another revision of its judge's set, so that nothing continues from a set that holds it.
 */
export function correctionRemoval(db: Database, where: string): (values: object) => number {
  const remove = db.prepare<object, { judge_id: string; evaluation_seq: number | null }>(
    `DELETE FROM corrections WHERE ${where} RETURNING judge_id, evaluation_seq`,
  );
  const countRemoval = db.prepare<[string]>(
    'UPDATE correction_sets SET revision = revision + 1, last_removal = revision + 1 WHERE judge_id = ?',
  );
  return (values) => {
    const removed = remove.all(values);
    for (const { judge_id, evaluation_seq } of removed) if (evaluation_seq !== null) countRemoval.run(judge_id);
    return removed.length;
  };
}
