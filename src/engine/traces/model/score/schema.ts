import { Type } from '@sinclair/typebox';
import { line } from '../../../schema/parts.js';
import { MAX_SCORE_NAME } from './score.js';

/** Longest text as a value or comment of a score, in characters. */
export const MAX_SCORE_TEXT = 10_000;

export const ScoreName = line(MAX_SCORE_NAME, 'Name of the score, such as `helpful`.');

export const ScoreValueInput = Type.Union(
  [Type.Number(), Type.Boolean(), Type.String({ minLength: 1, maxLength: MAX_SCORE_TEXT })],
  {
    description:
      'A number, true or false, a category or a text, as the definition of the name says. The first value of a name ' +
      'makes its definition: a text of up to 200 characters on one line makes it `categorical`, a longer one `text`.',
  },
);

/** What the Python SDK takes the text of a signal for. */
export const SIGNAL_TYPES = ['boolean', 'numerical', 'categorical'] as const;
export type SignalType = (typeof SIGNAL_TYPES)[number];
