import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { byKey, orNull, time, uuid } from '../../engine/schema/parts.js';

/** Longest reason, in characters. */
export const MAX_REASON = 32_768;
/** Longest expected output, in characters. */
export const MAX_EXPECTED_OUTPUT = 1_048_576;
/** Most criteria that feedback is given on. */
export const MAX_CRITERIA = 1000;

const directions = (description: string) =>
  Type.Union([Type.Literal('too_high'), Type.Literal('too_low')], { description });

const THUMBS_UP = 'true: good; false: bad. With `judge_id`: whether the judge was right, as `judge_was_right` says.';
const JUDGE_WAS_RIGHT = "Whether the judge's evaluation is right; only with `judge_id`.";
const REASON = 'Why.';
const EXPECTED_OUTPUT = 'The expected output.';
const EXPECTED_SCORE = 'Score that the judge should have given; for scored judges only.';
const SCORE_DIRECTION = "Direction in which the judge's score is wrong; for scored judges only.";
const CRITERIA_FEEDBACK =
  'By key of the criterion: the score that it should have got, and why; for scored judges only.';
const METADATA = 'Any JSON to store with the feedback.';
const JUDGE_ID =
  'Judge whose evaluation of the completion the feedback is about; absent: the feedback is about the completion itself.';

const CriterionInput = Type.Object(
  {
    expected_score: optional(Type.Number({ description: 'Score that the criterion should have got.' })),
    reason: optional(Type.String({ maxLength: MAX_REASON, description: REASON })),
  },
  { description: 'Feedback on one criterion: a score, a reason, or both.' },
);

export const FeedbackInput = Type.Object(
  {
    thumbs_up: optional(
      Type.Boolean({ description: `${THUMBS_UP} Required, unless \`judge_was_right\` is given instead.` }),
    ),
    judge_was_right: optional(
      Type.Boolean({ description: `${JUDGE_WAS_RIGHT} It replaces \`thumbs_up\`, or agrees with it.` }),
    ),
    reason: optional(Type.String({ maxLength: MAX_REASON, description: REASON })),
    expected_output: optional(Type.String({ maxLength: MAX_EXPECTED_OUTPUT, description: EXPECTED_OUTPUT })),
    metadata: optional(Type.Record(Type.String(), Type.Unknown(), { description: METADATA })),
    judge_id: optional(uuid(JUDGE_ID)),
    expected_score: optional(Type.Number({ description: EXPECTED_SCORE })),
    score_direction: optional(directions(SCORE_DIRECTION)),
    criteria_feedback: optional(byKey(CriterionInput, { maxProperties: MAX_CRITERIA, description: CRITERIA_FEEDBACK })),
  },
  { $id: 'FeedbackInput', description: "A user's feedback on a completion, or on a judge's evaluation of it." },
);
export type FeedbackInput = Static<typeof FeedbackInput>;

export const CriterionRead = Type.Object(
  {
    expected_score: orNull(Type.Number({ description: 'Score that the criterion should have got.' })),
    reason: orNull(Type.String({ description: REASON })),
  },
  { description: 'Feedback on one criterion.' },
);

export const FeedbackRead = Type.Object(
  {
    id: uuid('Id of the feedback; it does not change when the feedback changes.'),
    completion_id: uuid('Id of the span.'),
    prompt_id: orNull(uuid('Id of the prompt; null: the span names none.')),
    thumbs_up: Type.Boolean({ description: THUMBS_UP }),
    judge_was_right: orNull(
      Type.Boolean({ description: `${JUDGE_WAS_RIGHT} The same as \`thumbs_up\`; null without a judge.` }),
    ),
    reason: orNull(Type.String({ description: REASON })),
    expected_output: orNull(Type.String({ description: EXPECTED_OUTPUT })),
    judge_id: orNull(uuid(JUDGE_ID)),
    expected_score: orNull(Type.Number({ description: EXPECTED_SCORE })),
    score_direction: Type.Union([directions(SCORE_DIRECTION), Type.Null()], { description: SCORE_DIRECTION }),
    criteria_feedback: Type.Union([byKey(CriterionRead, { description: CRITERIA_FEEDBACK }), Type.Null()], {
      description: CRITERIA_FEEDBACK,
    }),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: METADATA }),
    created_at: time('When the feedback was first given.'),
    updated_at: time('When the feedback was last given.'),
  },
  { $id: 'Feedback', description: "Feedback of one user on one completion, or on a judge's evaluation of it." },
);
export type FeedbackRead = Static<typeof FeedbackRead>;
