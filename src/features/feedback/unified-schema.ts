import { Type, type Static } from '@sinclair/typebox';
import { byKey, count, number, orNull, time, uuid } from '../../engine/schema/parts.js';
import { CriterionRead } from './schema.js';

const text = (description: string) => Type.String({ description });

export const AuthorRead = Type.Object(
  {
    id: uuid('Id of the user.'),
    email: orNull(text('Email address; null for reviewers without an account.')),
    name: text('Name of the user.'),
  },
  { description: 'Who gave the feedback.' },
);

const HumanFeedbackItem = Type.Object(
  {
    kind: Type.Literal('human_feedback', { description: 'Marks feedback of a person.' }),
    id: uuid('Id of the feedback.'),
    span_id: uuid('Span that the feedback is about.'),
    thumbs_up: Type.Boolean({
      description: 'true: good; false: bad. In feedback on a judge: whether the judge was right.',
    }),
    judge_was_right: orNull(
      Type.Boolean({
        description: 'In feedback on a judge the same as `thumbs_up`: whether the judge was right; else null.',
      }),
    ),
    reason: orNull(text('Why.')),
    expected_output: Type.Optional(text('Expected output; absent if none was given.')),
    created_at: time('When the feedback was first given.'),
    updated_at: time('When the feedback was last given.'),
    created_by: AuthorRead,
    source_type: Type.Union([Type.Literal('human'), Type.Literal('judge')], {
      description: "`judge` for feedback on a judge's evaluation, else `human`.",
    }),
    judge_id: Type.Optional(uuid('Judge that the feedback is about; only with source_type `judge`.')),
    expected_score: Type.Optional(number('Score that the judge should have given; absent if none was given.')),
    score_direction: Type.Optional(
      Type.Union([Type.Literal('too_high'), Type.Literal('too_low')], {
        description: "Direction in which the judge's score is wrong; absent if none was given.",
      }),
    ),
    criteria_feedback: Type.Optional(
      byKey(CriterionRead, {
        description: 'By key of the criterion: the score that it should have got, and why; absent if none was given.',
      }),
    ),
  },
  { $id: 'HumanFeedbackItem', description: 'Feedback of a person.' },
);

const JudgeEvaluationItem = Type.Object(
  {
    kind: Type.Literal('judge_evaluation', { description: 'Marks an evaluation by a judge.' }),
    id: text('Id of the evaluation.'),
    span_id: uuid('Evaluated span.'),
    automation_id: uuid('Id of the judge.'),
    judge_name: text('Name of the judge, including deleted ones.'),
    evaluation_result: Type.Boolean({ description: 'Whether the span passed.' }),
    evaluation_reason: text("The judge's reasoning."),
    confidence_score: orNull(number('Confidence of the judge, from 0 to 1; null if it gave none.')),
    model_used: orNull(text('Model that ran the evaluation; null if unknown.')),
    evaluation_duration_ms: orNull(number('Duration of the evaluation in milliseconds; null if unknown.')),
    evaluation_type: Type.Union([Type.Literal('binary'), Type.Literal('scored')], {
      description: 'Type of the judge when it made the evaluation.',
    }),
    score: Type.Optional(orNull(number('Score; scored evaluations only.'))),
    score_min: Type.Optional(orNull(number('Lowest possible score; scored evaluations only.'))),
    score_max: Type.Optional(orNull(number('Highest possible score; scored evaluations only.'))),
    pass_threshold: Type.Optional(orNull(number('Score needed to pass; scored evaluations only.'))),
    criteria_scores: Type.Optional(
      byKey(
        Type.Object(
          {
            score: orNull(number('Score of the criterion.')),
            reason: orNull(text('Why.')),
          },
          { description: "The judge's score of one criterion." },
        ),
        { description: 'Scores of criteria, by key of the criterion; scored evaluations only.' },
      ),
    ),
    created_at: time('When the evaluation was stored.'),
  },
  { $id: 'JudgeEvaluationItem', description: 'Evaluation by a judge.' },
);

export const UnifiedItemRead = Type.Union([HumanFeedbackItem, JudgeEvaluationItem], {
  description: 'Feedback of a person or evaluation by a judge.',
});
export type UnifiedItemRead = Static<typeof UnifiedItemRead>;

export const UnifiedFeedbackRead = Type.Object(
  {
    entity_type: Type.Union([Type.Literal('span'), Type.Literal('trace'), Type.Literal('session')], {
      description: 'Type of the requested object.',
    }),
    entity_id: uuid('Id of the span, trace or session.'),
    summary: Type.Object(
      {
        total: count('Number of items.'),
        human_feedback_count: count('Number of items that are feedback of people.'),
        judge_evaluation_count: count('Number of items that are evaluations by judges.'),
      },
      { description: 'Counts of all items, even if the response has only some.' },
    ),
    items: Type.Array(UnifiedItemRead, { description: 'The items, newest first.' }),
  },
  {
    $id: 'UnifiedFeedback',
    description: 'Feedback of people and evaluations by judges of a span, or of all spans of a trace or session.',
  },
);
