import { MAX_SCORE_TEXT } from '../../engine/traces/model/score/schema.js';
import type { Score } from '../../engine/traces/model/score/score.js';
import type { Masker } from '../masking/masker.js';

/** Scores with their texts masked: comments, metadata, and values that are texts. Categories count as they are. */
export function maskedScores<S extends Score>(scores: readonly S[], masker: Masker | null): readonly S[] {
  if (masker === null) return scores;
  return scores.map((score) => {
    const { kind, value, comment, metadata } = score;
    return {
      ...score,
      ...(kind === 'text' &&
        typeof value === 'string' && { value: masker.maskText(value, MAX_SCORE_TEXT) || '[masked]' }),
      comment: masker.maskText(comment, MAX_SCORE_TEXT),
      metadata: masker.maskValue(metadata),
    };
  });
}
