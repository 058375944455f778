import { Type, type Static } from '@sinclair/typebox';
import { optional, tags } from '../schema/inputs.js';
import { MAX_CONTENT_BYTES, Slug } from '../prompt/schema.js';
import { spanKind } from '../schema/kind.js';
import { LONGEST_FILTER_VALUE } from './judge.js';
import { byKey, line, number, oneOf, orNull, time, uuid } from '../schema/parts.js';
import { pageRead } from '../schema/page.js';

const EvaluationType = oneOf(
  ['binary', 'scored'],
  'binary: passes or fails; scored: gets a score, which passes from a threshold on.',
);

const criterion = {
  key: Type.String({
    pattern: '^[A-Za-z0-9_.-]{1,64}$',
    'x-must': 'have 1 to 64 characters of A-Z, a-z, 0-9, underscore, dot and hyphen',
    description: 'Key, unique within the judge.',
  }),
  label: line(200, 'Name for people.'),
};

const Criterion = Type.Object(
  {
    key: criterion.key,
    label: optional(criterion.label),
    description: optional(Type.String({ maxLength: 4000, description: 'What it is about, for the model too.' })),
  },
  { description: 'One thing that a judge looks at.' },
);

const CriterionRead = Type.Object(
  {
    key: criterion.key,
    label: Type.String({ description: 'Name for people.' }),
    description: Type.String({ description: 'What it is about.' }),
  },
  { $id: 'Criterion', description: 'One thing that a judge looks at.' },
);

const kind = spanKind('Kind of span.');
const MAX_LISTED = 200;
const MAX_TAGS = 50;

const Filters = Type.Object(
  {
    kinds: optional(
      Type.Array(kind, { maxItems: MAX_LISTED, description: 'Kinds of spans, any of them; empty: all.' }),
    ),
    names: optional(
      Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_FILTER_VALUE, description: 'Name of a span.' }), {
        maxItems: MAX_LISTED,
        description: 'Names of spans, any of them; empty: all.',
      }),
    ),
    tags: optional(tags('Tags of spans, all of them.', { count: MAX_TAGS, length: LONGEST_FILTER_VALUE })),
    prompt_slug: optional(Type.String({ ...Slug, description: 'Only completions of the prompt with this slug.' })),
  },
  { description: 'Which spans it is about; what is absent does not restrict.' },
);

const settings = {
  evaluation_type: EvaluationType,
  score_min: optional(number('Lowest score; scored judges only.')),
  score_max: optional(number('Highest score; scored judges only.')),
  pass_threshold: optional(number('Score from which on a span passes; scored judges only.')),
  criteria: optional(
    Type.Array(Criterion, { maxItems: 50, description: 'What it looks at. A scored judge scores each of them too.' }),
  ),
  model: optional(
    line(
      512,
      'Model, as the endpoint names it. Absent: the one bound to the version of its prompt, else `JUDGE_LLM_MODEL`.',
    ),
  ),
  temperature: optional(
    Type.Number({ minimum: 0, maximum: 2, description: "Temperature; absent: the model's own default." }),
  ),
  sample_rate: optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Share of the matching spans that it evaluates by itself. Default: 1.',
    }),
  ),
  filters: optional(Filters),
  enabled: optional(Type.Boolean({ description: 'Whether it evaluates new spans by itself. Default: true.' })),
};
const name = line(200, 'Name.');
const prompt = Type.String({
  minLength: 1,
  maxLength: MAX_CONTENT_BYTES,
  description:
    'Text of the instruction. `{{input}}`, `{{output}}`, `{{expected}}`, `{{name}}`, `{{kind}}`, `{{tags}}`, ' +
    '`{{attributes}}` and `{{error}}` are filled in; without `{{input}}` and `{{output}}` the span is shown after it.',
});
const TASK = 'Slug of an existing prompt that holds the instruction.';

export const JudgeInput = Type.Object(
  { name, ...settings, prompt: optional(prompt), task_slug: optional(Type.String({ ...Slug, description: TASK })) },
  {
    $id: 'JudgeInput',
    description: 'A judge to be made; either `prompt` or `task_slug` says what its instruction is.',
  },
);
export type JudgeInput = Static<typeof JudgeInput>;

export const JudgePatch = Type.Object(
  {
    ...settings,
    name: Type.Optional(name),
    evaluation_type: Type.Optional(EvaluationType),
    prompt: optional(
      Type.String({ ...prompt, description: `A new version of its prompt. ${prompt.description ?? ''}` }),
    ),
    task_slug: optional(Type.String({ ...Slug, description: TASK })),
  },
  {
    $id: 'JudgePatch',
    description:
      'What is to change; absent: it stays, null: its default. `criteria` and `filters` are replaced as a whole.',
  },
);
export type JudgePatch = Static<typeof JudgePatch>;

const scale = {
  score_min: orNull(number('Lowest score; null for a binary judge.')),
  score_max: orNull(number('Highest score; null for a binary judge.')),
  pass_threshold: orNull(number('Score from which on a span passes; null for a binary judge.')),
};

export const JudgeRead = Type.Object(
  {
    id: uuid('Id of the judge.'),
    project_id: uuid('Its project.'),
    name: Type.String({ description: 'Name.' }),
    task_slug: Type.String({ description: 'Slug of the prompt that holds its instruction.' }),
    evaluation_type: EvaluationType,
    ...scale,
    criteria: Type.Array(CriterionRead, { description: 'What it looks at.' }),
    model: orNull(
      Type.String({ description: 'Model; null: that of the version of its prompt, else the configured one.' }),
    ),
    temperature: orNull(number("Temperature; null: the model's own default.")),
    sample_rate: number('Share of the matching spans that it evaluates by itself.'),
    filters: Type.Object(
      {
        kinds: Type.Array(kind, { description: 'Any of these; empty: all.' }),
        names: Type.Array(Type.String({ description: 'Name of a span.' }), {
          description: 'Any of these; empty: all.',
        }),
        tags: byKey(Type.String(), { description: 'All of these.' }),
        prompt_slug: orNull(Type.String({ description: 'Only completions of this prompt.' })),
      },
      { description: 'Which spans it is about.' },
    ),
    enabled: Type.Boolean({ description: 'Whether it evaluates new spans by itself.' }),
    runnable: Type.Boolean({
      description: 'Whether it can run: a model endpoint is configured, and a model is named.',
    }),
    not_runnable_reason: orNull(Type.String({ description: 'Why it cannot run.' })),
    judged_since: time('Spans that arrived up to here it does not evaluate by itself: when it was last enabled.'),
    created_at: time('When it was made.'),
    updated_at: time('When it was last changed.'),
  },
  { $id: 'Judge', description: 'A judge.' },
);
export type JudgeRead = Static<typeof JudgeRead>;

export const CriteriaRead = Type.Object(
  {
    judge_id: uuid('Id of the judge.'),
    evaluation_type: EvaluationType,
    ...scale,
    criteria: Type.Array(CriterionRead, { description: 'What it looks at.' }),
  },
  { $id: 'JudgeCriteria', description: 'How a judge scores.' },
);
export type CriteriaRead = Static<typeof CriteriaRead>;

const CriterionScore = Type.Object(
  { score: number('Score of the criterion.'), reason: Type.String({ description: 'Why.' }) },
  { description: 'What was found of one criterion.' },
);

export const EvaluationInput = Type.Object(
  {
    span_id: uuid('Evaluated span; it may arrive later.'),
    evaluation_result: optional(
      Type.Boolean({ description: 'Whether it passed. Required for a binary judge; else it follows from the score.' }),
    ),
    evaluation_reason: optional(Type.String({ maxLength: 100_000, description: "The judge's reasoning." })),
    confidence_score: optional(Type.Number({ minimum: 0, maximum: 1, description: 'How sure it was, from 0 to 1.' })),
    score: optional(number('Score; required for a scored judge.')),
    criteria_scores: optional(
      byKey(
        Type.Object(
          {
            score: number('Score of the criterion.'),
            reason: optional(Type.String({ maxLength: 100_000, description: 'Why.' })),
          },
          { description: 'What was found of one criterion.' },
        ),
        { description: 'By criterion key; scored judges only.' },
      ),
    ),
    model_used: optional(line(512, 'Model that ran the evaluation.')),
    evaluation_duration_ms: optional(
      Type.Number({ minimum: 0, maximum: 1e15, description: 'Time it took, in milliseconds.' }),
    ),
  },
  { $id: 'EvaluationInput', description: 'An evaluation that ran elsewhere.' },
);
export type EvaluationInput = Static<typeof EvaluationInput>;

const evaluation = {
  id: uuid('Id of the evaluation.'),
  judge_id: uuid('Id of the judge.'),
  span_id: uuid('Evaluated span.'),
  evaluation_result: Type.Boolean({ description: 'Whether the span passed.' }),
  evaluation_reason: Type.String({ description: "The judge's reasoning." }),
  confidence_score: orNull(number('From 0 to 1; null when it was not said.')),
  score: orNull(number('Score; null for a binary evaluation.')),
  score_min: orNull(number('Lowest possible score; null for a binary evaluation.')),
  score_max: orNull(number('Highest possible score; null for a binary evaluation.')),
  pass_threshold: orNull(number('Score needed to pass; null for a binary evaluation.')),
  criteria_scores: orNull(byKey(CriterionScore, { description: 'By criterion key; null when there are none.' })),
  evaluation_type: EvaluationType,
  model_used: orNull(Type.String({ description: 'Model that ran the evaluation; null when it is not known.' })),
  evaluation_duration_ms: orNull(number('Time it took, in milliseconds; null when it is not known.')),
  judge_version: orNull(
    Type.String({
      description: 'Names the version of the instruction and the set of examples; null when it ran elsewhere.',
    }),
  ),
  origin: oneOf(['automatic', 'requested', 'external'], 'Of a new span by itself, by a run call, or run elsewhere.'),
  created_at: time('When it was stored.'),
};

export const EvaluationRead = Type.Object(evaluation, {
  $id: 'Evaluation',
  description: 'What a judge found of a span.',
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
        { ...evaluation, judge_name: Type.String({ description: 'Name of the judge, also of a deleted one.' }) },
        { $id: 'SpanEvaluation', description: 'What a judge found of the span.' },
      ),
      { description: 'Newest first.' },
    ),
  },
  { $id: 'SpanEvaluations', description: 'Every evaluation of a span.' },
);
export type SpanEvaluationsRead = Static<typeof SpanEvaluationsRead>;
