import { Type, type Static } from '@sinclair/typebox';
import { optional, tagBounds, tags } from '../../engine/schema/inputs.js';
import { MAX_CONTENT_BYTES, Slug, VersionNumber } from '../prompts/schema.js';
import { spanKind } from '../../engine/schema/kind.js';
import { LONGEST_FILTER_VALUE } from '../../engine/traces/model/judged/filters.js';
import { byKey, line, number, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { pageRead } from '../../engine/schema/page.js';

const EvaluationType = oneOf(
  ['binary', 'scored'],
  'binary: the judge passes or fails a span; scored: it gives a score, and spans with at least `pass_threshold` ' +
    'pass.',
);

/** Most criteria of a judge. */
export const MAX_CRITERIA = 50;
/** Longest reason of an evaluation that ran elsewhere, in characters. */
export const MAX_EVALUATION_REASON = 100_000;
/** The parts of a criterion, as they are stored. */
export const criterion = {
  key: Type.String({
    pattern: '^[A-Za-z0-9_.-]{1,64}$',
    'x-must': 'have 1 to 64 characters of A-Z, a-z, 0-9, underscore, dot and hyphen',
    description: 'Key of the criterion, unique within the judge.',
  }),
  label: line(200, 'Name of the criterion, for people.'),
  description: Type.String({ maxLength: 4000, description: 'Meaning of the criterion; the model gets it too.' }),
};

const Criterion = Type.Object(
  {
    key: criterion.key,
    label: optional(criterion.label),
    description: optional(criterion.description),
  },
  { description: 'A criterion: one aspect of a span that a judge evaluates.' },
);

const CriterionRead = Type.Object(
  {
    key: criterion.key,
    label: Type.String({ description: 'Name of the criterion, for people.' }),
    description: Type.String({ description: 'Meaning of the criterion.' }),
  },
  { $id: 'Criterion', description: 'A criterion: one aspect of a span that a judge evaluates.' },
);

const kind = spanKind('Kind of span.');
const MAX_LISTED = 200;
const FILTER_TAGS = { count: 50, length: LONGEST_FILTER_VALUE };
const FILTERED_TAGS = 'Tags of spans: all of these.';

/** The filters of a judge, as they are stored. */
export const filters = {
  kinds: Type.Array(kind, { maxItems: MAX_LISTED, description: 'Kinds of spans: one of these; empty: any.' }),
  names: Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_FILTER_VALUE, description: 'Name of a span.' }), {
    maxItems: MAX_LISTED,
    description: 'Names of spans: one of these; empty: any.',
  }),
  tags: byKey(Type.String({ maxLength: LONGEST_FILTER_VALUE }), {
    ...tagBounds(FILTER_TAGS),
    description: FILTERED_TAGS,
  }),
  prompt_slug: Type.String({ ...Slug, description: 'Only completions of the prompt with this slug.' }),
};

const Filters = Type.Object(
  {
    kinds: optional(filters.kinds),
    names: optional(filters.names),
    tags: optional(tags(FILTERED_TAGS, FILTER_TAGS)),
    prompt_slug: optional(filters.prompt_slug),
  },
  { description: 'Which new spans the judge evaluates; absent filters do not restrict.' },
);

/** Longest name of a model, in characters. */
export const MAX_MODEL = 512;
export const TEMPERATURE = { minimum: 0, maximum: 2 };

const settings = {
  evaluation_type: EvaluationType,
  score_min: optional(number('Lowest score; for scored judges only.')),
  score_max: optional(number('Highest score; for scored judges only.')),
  pass_threshold: optional(number('Lowest passing score; for scored judges only.')),
  criteria: optional(
    Type.Array(Criterion, {
      maxItems: MAX_CRITERIA,
      description: 'Criteria that the judge evaluates by. A scored judge scores each of them too.',
    }),
  ),
  model: optional(
    line(
      MAX_MODEL,
      'Model, as the model endpoint names it. Absent: the model bound to the version of its prompt, else `JUDGE_LLM_MODEL`.',
    ),
  ),
  temperature: optional(
    Type.Number({ ...TEMPERATURE, description: "Temperature of the model; absent: the model's own default." }),
  ),
  sample_rate: optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Share of the matching new spans that the judge evaluates, from 0 to 1. Default: 1.',
    }),
  ),
  filters: optional(Filters),
  enabled: optional(
    Type.Boolean({ description: 'Whether the judge evaluates new spans automatically. Default: true.' }),
  ),
};
export const JudgeName = line(200, 'Name of the judge.');
const prompt = Type.String({
  minLength: 1,
  maxLength: MAX_CONTENT_BYTES,
  description:
    'Text of the instruction. `{{input}}`, `{{output}}`, `{{expected}}`, `{{name}}`, `{{kind}}`, `{{tags}}`, ' +
    '`{{attributes}}` and `{{error}}` are filled in. Without `{{input}}` and `{{output}}`, the span is appended.',
});
const TASK = 'Slug of an existing prompt to use as the instruction.';

export const JudgeInput = Type.Object(
  {
    name: JudgeName,
    ...settings,
    prompt: optional(prompt),
    task_slug: optional(Type.String({ ...Slug, description: TASK })),
  },
  {
    $id: 'JudgeInput',
    description: 'A judge to create; either `prompt` or `task_slug` gives its instruction.',
  },
);
export type JudgeInput = Static<typeof JudgeInput>;

export const JudgePatch = Type.Object(
  {
    ...settings,
    name: Type.Optional(JudgeName),
    evaluation_type: Type.Optional(EvaluationType),
    prompt: optional(
      Type.String({ ...prompt, description: `A new version of its prompt. ${prompt.description ?? ''}` }),
    ),
    task_slug: optional(Type.String({ ...Slug, description: TASK })),
  },
  {
    $id: 'JudgePatch',
    description:
      'Settings to change. Absent ones do not change; null sets the default. `criteria` and `filters` are replaced ' +
      'as a whole.',
  },
);
export type JudgePatch = Static<typeof JudgePatch>;

const scale = {
  score_min: orNull(number('Lowest score; null for a binary judge.')),
  score_max: orNull(number('Highest score; null for a binary judge.')),
  pass_threshold: orNull(number('Lowest passing score; null for a binary judge.')),
};

export const JudgeRead = Type.Object(
  {
    id: uuid('Id of the judge.'),
    project_id: uuid('Project of the judge.'),
    name: Type.String({ description: 'Name of the judge.' }),
    task_slug: Type.String({ description: 'Slug of the prompt with its instruction.' }),
    evaluation_type: EvaluationType,
    ...scale,
    criteria: Type.Array(CriterionRead, { description: 'Criteria that the judge evaluates by.' }),
    model: orNull(
      Type.String({
        description: 'Model; null: the model bound to the version of its prompt, else `JUDGE_LLM_MODEL`.',
      }),
    ),
    temperature: orNull(number("Temperature of the model; null: the model's own default.")),
    sample_rate: number('Share of the matching new spans that the judge evaluates, from 0 to 1.'),
    filters: Type.Object(
      {
        kinds: Type.Array(kind, { description: 'Kinds of spans: one of these; empty: any.' }),
        names: Type.Array(Type.String({ description: 'Name of a span.' }), {
          description: 'Names of spans: one of these; empty: any.',
        }),
        tags: byKey(Type.String(), { description: 'Tags of spans: all of these.' }),
        prompt_slug: orNull(
          Type.String({ description: 'Slug of a prompt, to evaluate only its completions; null: any span.' }),
        ),
      },
      { description: 'Which new spans the judge evaluates.' },
    ),
    enabled: Type.Boolean({ description: 'Whether the judge evaluates new spans automatically.' }),
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
export type JudgeRead = Static<typeof JudgeRead>;

export const CriteriaRead = Type.Object(
  {
    judge_id: uuid('Id of the judge.'),
    evaluation_type: EvaluationType,
    ...scale,
    criteria: Type.Array(CriterionRead, { description: 'Criteria that the judge evaluates by.' }),
  },
  { $id: 'JudgeCriteria', description: 'How a judge scores.' },
);
export type CriteriaRead = Static<typeof CriteriaRead>;

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
  span_id: uuid('Evaluated span.'),
  trace_id: orNull(uuid('Trace of the span at that time; null if unknown.')),
  evaluation_result: Type.Boolean({ description: 'Whether the span passed.' }),
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
  description: 'An evaluation of a span by a judge.',
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
