import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../../schema/inputs.js';
import { byKey, line, oneOf } from '../../../schema/parts.js';
import { CHOICE_PREFIX, MAX_CATEGORY, MAX_SCORE_NAME } from './score.js';

/** Longest text as a value or comment of a score, in characters. */
export const MAX_SCORE_TEXT = 10_000;
/** Most signals, and most choices, of one span. */
const MAX_PER_SPAN = 100;

export const ScoreName = line(MAX_SCORE_NAME, 'Name of the score, such as `helpful`.');
const { minLength, maxLength, pattern, 'x-must': must } = ScoreName;
/** The names of the members of an object that has scores by name. */
export const scoreKeys = { minLength, maxLength, pattern, 'x-must': `have keys that ${must}` };

const number = Type.Number();
const boolean = Type.Boolean();
const text = Type.String({ minLength: 1, maxLength: MAX_SCORE_TEXT });

export const ScoreValueInput = Type.Union([number, boolean, text], {
  description:
    'A number, true or false, a category or a text, as the definition of the name says. The first value of a name ' +
    'makes its definition: a text of up to 200 characters on one line makes it `categorical`, a longer one `text`.',
});

/** What the Python SDK takes the text of a signal for. */
export const SIGNAL_TYPES = ['boolean', 'numerical', 'categorical'] as const;
export type SignalType = (typeof SIGNAL_TYPES)[number];
export const signalType = optional(
  oneOf(SIGNAL_TYPES, 'What a text stands for if it is the first value of its name. Numbers and booleans need none.'),
);

/** Scores of a span in the span itself, by name. */
export const SpanSignals = byKey(
  Type.Union([number, boolean, text, Type.Object({ value: ScoreValueInput, type: signalType })]),
  {
    propertyNames: scoreKeys,
    maxProperties: MAX_PER_SPAN,
    description:
      'Scores of the span by name, with the source `sdk`: a value, or an object with `value` and `type`. They are stored with ' +
      'the span, or refused with it. A span sent again without them keeps them.',
  },
);
export type SpanSignals = Static<typeof SpanSignals>;

export const ChoiceName = line(MAX_SCORE_NAME - CHOICE_PREFIX.length, 'Name of the A/B test.');
export const VariantKey = line(MAX_CATEGORY, 'The variant that was chosen.');
export const VariantValue = Type.String({ maxLength: MAX_SCORE_TEXT, description: 'What the variant stands for.' });

/** A variant of an A/B test, as the Python SDK says it of a span. */
export const SpanChoice = Type.Object({
  choice_name: ChoiceName,
  variant_key: VariantKey,
  variant_value: optional(VariantValue),
});
export type SpanChoice = Static<typeof SpanChoice>;

export const SpanChoices = Type.Array(SpanChoice, {
  maxItems: MAX_PER_SPAN,
  description:
    'Variants of A/B tests that the span was made with. Each becomes the categorical score `ab.<choice_name>` of the span, whose ' +
    'value is the variant.',
});
