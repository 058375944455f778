import type { Masker } from '../masking/masker.js';
import type { FeedbackContent } from './feedback.js';
import { MAX_EXPECTED_OUTPUT, MAX_REASON } from './schema.js';

type Said = Pick<FeedbackContent, 'reason' | 'expected_output' | 'criteria_feedback'>;

/** What a person said, with its texts masked. */
export function maskedFeedback<F extends Said & { readonly metadata?: unknown }>(said: F, masker: Masker | null): F {
  if (masker === null) return said;
  const { reason, expected_output, criteria_feedback: criteria, metadata } = said;
  return {
    ...said,
    reason: masker.maskText(reason, MAX_REASON),
    expected_output: masker.maskText(expected_output, MAX_EXPECTED_OUTPUT),
    criteria_feedback:
      criteria &&
      Object.fromEntries(
        Object.entries(criteria).map(([key, each]) => [
          key,
          { ...each, reason: masker.maskText(each.reason, MAX_REASON) },
        ]),
      ),
    ...(metadata !== undefined && { metadata: masker.maskValue(metadata) }),
  };
}
