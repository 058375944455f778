import type { Masker } from '../masking/masker.js';
import type { Verdict } from './evaluation.js';
import { MAX_EVALUATION_REASON } from './schema.js';

type Reasons = Pick<Verdict, 'evaluation_reason' | 'criteria_scores'>;

/** A verdict with its reasons masked: they quote what was judged. */
export function maskedVerdict<V extends Reasons>(verdict: V, masker: Masker | null): V {
  if (masker === null) return verdict;
  const { evaluation_reason, criteria_scores: criteria } = verdict;
  // What is imported may be longer than what is recorded.
  const masked = (text: string) => masker.maskText(text, Math.max(text.length, MAX_EVALUATION_REASON));
  return {
    ...verdict,
    evaluation_reason: masked(evaluation_reason),
    criteria_scores:
      criteria &&
      Object.fromEntries(
        Object.entries(criteria).map(([key, { score, reason }]) => [key, { score, reason: masked(reason) }]),
      ),
  };
}
