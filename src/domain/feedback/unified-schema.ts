import { Type, type Static } from '@sinclair/typebox';
import { byKey, count, number, orNull, time, uuid } from '../schema/parts.js';
import { CriterionRead } from './schema.js';

const text = (description: string) => Type.String({ description });

const HumanFeedbackItem = Type.Object(
  {
    kind: Type.Literal('human_feedback', { description: 'What somebody said.' }),
    id: uuid('Id of the feedback.'),
    span_id: uuid('Span that it is about.'),
    thumbs_up: Type.Boolean({ description: 'true: good; false: bad. Of a judge: whether it was right.' }),
    reason: orNull(text('Why.')),
    expected_output: Type.Optional(text('What the output should have been; left out when nothing was given.')),
    created_at: time('When it was first given.'),
    updated_at: time('When it was last given.'),
    created_by: Type.Object(
      {
        id: uuid('Id of the user.'),
        email: orNull(text('Email address; null for reviewers without an account.')),
        name: text('Name of the user.'),
      },
      { description: 'Who gave it.' },
    ),
    source_type: Type.Union([Type.Literal('human'), Type.Literal('judge')], {
      description: '`judge` for feedback on what a judge found, else `human`.',
    }),
    judge_id: Type.Optional(uuid('Judge that it is about; only with source_type `judge`.')),
    expected_score: Type.Optional(number('Score that the judge should have given, when it was said.')),
    score_direction: Type.Optional(
      Type.Union([Type.Literal('too_high'), Type.Literal('too_low')], {
        description: 'In which direction the score is wrong, when it was said.',
      }),
    ),
    criteria_feedback: Type.Optional(
      byKey(CriterionRead, {
        description: 'By criterion key, what its score should have been and why, when it was said.',
      }),
    ),
  },
  { $id: 'HumanFeedbackItem', description: 'Feedback of a person.' },
);

const JudgeEvaluationItem = Type.Object(
  {
    kind: Type.Literal('judge_evaluation', { description: 'What a judge found.' }),
    id: text('Id of the evaluation.'),
    span_id: uuid('Evaluated span.'),
    automation_id: uuid('Id of the judge.'),
    judge_name: text('Name of the judge, also of a deleted one.'),
    evaluation_result: Type.Boolean({ description: 'Whether the span passed.' }),
    evaluation_reason: text("The judge's reasoning."),
    confidence_score: orNull(number('From 0 to 1; null when the judge did not say.')),
    model_used: orNull(text('Model that ran the evaluation; null when it is not known.')),
    evaluation_duration_ms: orNull(number('Time it took, in milliseconds; null when it is not known.')),
    evaluation_type: Type.Union([Type.Literal('binary'), Type.Literal('scored')], {
      description: 'What the judge was at that time.',
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
          { description: 'What the judge found of one criterion.' },
        ),
        { description: 'By criterion key; scored evaluations only.' },
      ),
    ),
    created_at: time('When it was stored.'),
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
      description: 'What was asked for.',
    }),
    entity_id: uuid('Its id.'),
    summary: Type.Object(
      {
        total: count('How many items there are.'),
        human_feedback_count: count('How many are feedback of people.'),
        judge_evaluation_count: count('How many are evaluations by judges.'),
      },
      { description: 'How many items there are, whatever part of them is answered.' },
    ),
    items: Type.Array(UnifiedItemRead, { description: 'The items, newest first.' }),
  },
  { $id: 'UnifiedFeedback', description: 'Human feedback and evaluations on an entity and all spans below it.' },
);
