import type { JudgedResult, Opinion } from './correction.js';

/** The right result according to a person: pass or fail, and for a scored judge the score, when it is known. */
export interface Truth {
  readonly passed: boolean;
  readonly score: number | null;
}

/**
 * The right result according to a person, from feedback on an evaluation:
 * - an expected score passes when it reaches the threshold;
 * - else thumbs up stands for the judge's result, its score included;
 * - else thumbs down stands for the opposite, unless the direction says that the score alone was wrong: a failed score
 *   that was too high, a passed one that was too low.
 */
export function truthOf(
  opinion: Opinion,
  judged: Pick<JudgedResult, 'evaluation_result' | 'score' | 'pass_threshold'>,
): Truth {
  const { thumbs_up, expected_score, score_direction } = opinion;
  const { evaluation_result, score, pass_threshold } = judged;
  if (expected_score !== null && pass_threshold !== null)
    return { passed: expected_score >= pass_threshold, score: expected_score };
  if (thumbs_up) return { passed: evaluation_result, score };
  const verdictStands = score_direction === (evaluation_result ? 'too_low' : 'too_high');
  return { passed: verdictStands ? evaluation_result : !evaluation_result, score: null };
}

/** Distance of a judge's score from the right one; null when one of them is not known. */
export function scoreError(truth: Truth, score: number | null): number | null {
  return truth.score === null || score === null ? null : Math.abs(truth.score - score);
}
