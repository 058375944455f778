import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { MAX_CONTENT_BYTES, VersionNumber } from '../prompts/schema.js';
import { byKey, line, number, oneOf, orNull, time, uuid, type DeepReadonly } from '../../engine/schema/parts.js';
import { pageRead } from '../../engine/schema/page.js';
import { EvaluationType, MAX_MODEL, settingSchemas } from './settings.js';

/** Longest reason of an evaluation that ran elsewhere, in characters. */
export const MAX_EVALUATION_REASON = 100_000;

const prompt = Type.String({
  minLength: 1,
  maxLength: MAX_CONTENT_BYTES,
  description:
    'Text of the instruction. `{{input}}`, `{{output}}`, `{{outline}}`, `{{expected}}`, `{{name}}`, `{{kind}}`, `{{tags}}`, ' +
    '`{{attributes}}` and `{{error}}` are filled in. Without `{{input}}`, `{{output}}` and `{{outline}}`, what is evaluated ' +
    'is appended: the span, or the outline of the trace or session. `{{outline}}` is empty for a span; for a trace or ' +
    'session, the others are those of the span that represents it, such as the root. For results of experiments, `{{expected}}` is what the row of the dataset expects, and `{{row.<column>}}` is a column ' +
    'of the row; for other spans, `{{expected}}` is an attribute, and `{{row.<column>}}` is empty.',
});
const { name, task_slug, ...settings } = settingSchemas('sent');

export const JudgeInput = Type.Object(
  { name, ...settings, prompt: optional(prompt), task_slug },
  {
    $id: 'JudgeInput',
    description: 'A judge to create; either `prompt` or `task_slug` gives its instruction.',
  },
);
export type JudgeInput = Static<typeof JudgeInput>;

export const JudgePatch = Type.Object(
  {
    ...settings,
    name: Type.Optional(name),
    evaluation_type: Type.Optional(settings.evaluation_type),
    prompt: optional(
      Type.String({ ...prompt, description: `A new version of its prompt. ${prompt.description ?? ''}` }),
    ),
    task_slug,
  },
  {
    $id: 'JudgePatch',
    description:
      'Settings to change. Absent ones do not change; null sets the default. `criteria` and `filters` are replaced ' +
      'as a whole.',
  },
);
export type JudgePatch = Static<typeof JudgePatch>;

const answered = settingSchemas('answered');

export const JudgeRead = Type.Object(
  {
    id: uuid('Id of the judge.'),
    project_id: uuid('Project of the judge.'),
    ...answered,
    runnable: Type.Boolean({
      description:
        'Whether the judge can run: a model endpoint is configured, there is a model, and the key was not refused in ' +
        'the last call.',
    }),
    not_runnable_reason: orNull(Type.String({ description: 'Why the judge cannot run; null if it can.' })),
    judged_since: time('When the judge was created or last enabled: it evaluates earlier spans only in run calls.'),
    created_at: time('When the judge was created.'),
    updated_at: time('When the judge was last changed.'),
  },
  { $id: 'Judge', description: 'A judge.' },
);
export type JudgeRead = DeepReadonly<Static<typeof JudgeRead>>;

const { evaluation_type, score_min, score_max, pass_threshold, criteria } = answered;

export const CriteriaRead = Type.Object(
  { judge_id: uuid('Id of the judge.'), evaluation_type, score_min, score_max, pass_threshold, criteria },
  { $id: 'JudgeCriteria', description: 'How a judge scores.' },
);
export type CriteriaRead = DeepReadonly<Static<typeof CriteriaRead>>;

const CriterionScore = Type.Object(
  { score: number('Score of the criterion.'), reason: Type.String({ description: 'Reason for the score.' }) },
  { description: 'Score of one criterion.' },
);

export const CriteriaScoresRead = orNull(
  byKey(CriterionScore, { description: 'Scores of criteria, by key of the criterion; null if there are none.' }),
);

export const EvaluationInput = Type.Object(
  {
    span_id: uuid('Evaluated span; it may arrive later.'),
    evaluation_result: optional(
      Type.Boolean({
        description:
          'Whether the span passed. Required for a binary judge; for a scored judge, it follows from the score.',
      }),
    ),
    evaluation_reason: optional(
      Type.String({ maxLength: MAX_EVALUATION_REASON, description: "The judge's reasoning." }),
    ),
    confidence_score: optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Confidence of the judge, from 0 to 1.' }),
    ),
    score: optional(number('Score; required for a scored judge.')),
    criteria_scores: optional(
      byKey(
        Type.Object(
          {
            score: number('Score of the criterion.'),
            reason: optional(Type.String({ maxLength: MAX_EVALUATION_REASON, description: 'Reason for the score.' })),
          },
          { description: 'Score of one criterion.' },
        ),
        { description: 'Scores of criteria, by key of the criterion; for scored judges only.' },
      ),
    ),
    prompt_version: optional({
      ...VersionNumber,
      description:
        "Version number of the judge's prompt that produced the evaluation, without corrections; its agreement with " +
        'people then counts for this version. Absent: unknown.',
    }),
    model_used: optional(line(MAX_MODEL, 'Model that ran the evaluation.')),
    evaluation_duration_ms: optional(
      Type.Number({ minimum: 0, maximum: 1e15, description: 'Duration of the evaluation in milliseconds.' }),
    ),
  },
  { $id: 'EvaluationInput', description: 'An evaluation that ran elsewhere.' },
);
export type EvaluationInput = Static<typeof EvaluationInput>;

const evaluation = {
  id: uuid('Id of the evaluation.'),
  judge_id: uuid('Id of the judge.'),
  span_id: uuid('Evaluated span; for a trace or session: the span that represents it.'),
  trace_id: orNull(uuid('Trace of the span at that time; null if unknown.')),
  subject: oneOf(['span', 'trace', 'session'], 'What was evaluated.'),
  subject_id: orNull(uuid('The trace or session that was evaluated; null: the span was.')),
  evaluation_result: Type.Boolean({ description: 'Whether it passed.' }),
  evaluation_reason: Type.String({ description: "The judge's reasoning." }),
  confidence_score: orNull(number('Confidence of the judge, from 0 to 1; null if it gave none.')),
  score: orNull(number('Score; null for a binary evaluation.')),
  score_min: orNull(number('Lowest possible score; null for a binary evaluation.')),
  score_max: orNull(number('Highest possible score; null for a binary evaluation.')),
  pass_threshold: orNull(number('Score needed to pass; null for a binary evaluation.')),
  criteria_scores: CriteriaScoresRead,
  evaluation_type: EvaluationType,
  model_used: orNull(Type.String({ description: 'Model that ran the evaluation; null if unknown.' })),
  evaluation_duration_ms: orNull(number('Duration of the evaluation in milliseconds; null if unknown.')),
  judge_version: orNull(
    Type.String({
      description:
        'Version of the judge: that of its instruction, with the revision of its corrections; null if the evaluation ' +
        'ran elsewhere and names no version.',
    }),
  ),
  origin: oneOf(
    ['automatic', 'requested', 'external'],
    'automatic: the judge evaluated a new span automatically; requested: by a run call; external: the evaluation ' +
      'ran elsewhere.',
  ),
  created_at: time('When the evaluation was stored.'),
};

export const EvaluationRead = Type.Object(evaluation, {
  $id: 'Evaluation',
  description: 'An evaluation of a span, trace or session by a judge.',
});
export type EvaluationRead = Static<typeof EvaluationRead>;

export const EvaluationPageRead = Type.Object(
  {
    evaluations: Type.Array(EvaluationRead, { description: 'The evaluations of this page.' }),
    ...pageRead,
  },
  { $id: 'EvaluationPage', description: 'A page of evaluations.' },
);
export type EvaluationPageRead = Static<typeof EvaluationPageRead>;

export const SpanEvaluationsRead = Type.Object(
  {
    span_id: uuid('Id of the span.'),
    evaluations: Type.Array(
      Type.Object(
        { ...evaluation, judge_name: Type.String({ description: 'Name of the judge, including deleted ones.' }) },
        { $id: 'SpanEvaluation', description: 'An evaluation of the span, with the name of the judge.' },
      ),
      { description: 'Evaluations of the span, newest first.' },
    ),
  },
  { $id: 'SpanEvaluations', description: 'Every evaluation of a span.' },
);
export type SpanEvaluationsRead = Static<typeof SpanEvaluationsRead>;
