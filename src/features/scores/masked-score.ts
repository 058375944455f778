import { MAX_SCORE_TEXT } from '../../engine/traces/model/score/schema.js';
import { MAX_CATEGORY } from '../../engine/traces/model/score/score.js';
import type { Score } from '../../engine/traces/model/score/score.js';
import type { Masker } from '../masking/masker.js';
import type { ScoreDefinition } from './definition.js';

/**
 * Scores with their texts masked: comments, metadata, and values that are strings, unless the definition lists them as categories.
 * @param find the definition of a name that there is so far
 */
export function maskedScores<S extends Score>(
  scores: readonly S[],
  masker: Masker | null,
  find: (name: string) => Pick<ScoreDefinition, 'categories'> | undefined,
): readonly S[] {
  if (masker === null) return scores;
  return scores.map((score) => {
    const { name, kind, value, comment, metadata } = score;
    return {
      ...score,
      ...(typeof value === 'string' &&
        find(name)?.categories?.includes(value) !== true && {
          value: masker.maskText(value, kind === 'text' ? MAX_SCORE_TEXT : MAX_CATEGORY) || '[masked]',
        }),
      comment: masker.maskText(comment, MAX_SCORE_TEXT),
      metadata: masker.maskValue(metadata),
    };
  });
}
