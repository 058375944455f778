import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { optional, tagBounds, tags } from '../../engine/schema/inputs.js';
import { spanKind } from '../../engine/schema/kind.js';
import { byKey, line, number, oneOf, orNull, type DeepReadonly } from '../../engine/schema/parts.js';
import { LONGEST_FILTER_VALUE } from '../../engine/traces/model/judged/filters.js';
import { Slug } from '../prompts/schema.js';

/*
 * The settings of judges. Requests, answers, exports, types, columns of the table and what is stored by default follow from
 * `SETTINGS`; what the console shows of them stands in `src/console/model/judge-fields.ts`.
 */

export const EvaluationType = oneOf(
  ['binary', 'scored'],
  'binary: the judge passes or fails what it evaluates; scored: it gives a score, and at least `pass_threshold` ' +
    'passes.',
);

export const Subject = oneOf(
  ['span', 'trace', 'session'],
  'What the judge evaluates. span: single spans; trace: whole traces; session: the conversations of sessions. Traces and ' +
    'sessions are evaluated once no span has arrived for `quiet_seconds`. It cannot be changed.',
);

/** Most criteria of a judge. */
export const MAX_CRITERIA = 50;

const criterion = {
  key: Type.String({
    pattern: '^[A-Za-z0-9_.-]{1,64}$',
    'x-must': 'have 1 to 64 characters of A-Z, a-z, 0-9, underscore, dot and hyphen',
    description: 'Key of the criterion, unique within the judge.',
  }),
  label: line(200, 'Name of the criterion, for people.'),
  description: Type.String({ maxLength: 4000, description: 'Meaning of the criterion; the model gets it too.' }),
};
export const CRITERION_KEY = criterion.key.pattern;

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
const KINDS = 'Kinds of spans: one of these; empty: any.';
const QUIET = 'Seconds without a new span after which the judge evaluates a trace or session';
const CONTEXT = 'Maximum tokens of the outline of a trace or session, estimated at four characters each';
const CONTEXT_KINDS = 'Kinds of spans whose inputs and outputs the outline of a trace shows; empty: all.';
const NAMES = 'Names of spans: one of these; empty: any.';
const TAGS = 'Tags of spans: all of these.';
const MAX_LISTED = 200;
const FILTER_TAGS = { count: 50, length: LONGEST_FILTER_VALUE };

const filters = {
  kinds: Type.Array(kind, { maxItems: MAX_LISTED, description: KINDS }),
  names: Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_FILTER_VALUE, description: 'Name of a span.' }), {
    maxItems: MAX_LISTED,
    description: NAMES,
  }),
  tags: byKey(Type.String({ maxLength: LONGEST_FILTER_VALUE }), { ...tagBounds(FILTER_TAGS), description: TAGS }),
  prompt_slug: Type.String({ ...Slug, description: 'Only completions of the prompt with this slug.' }),
};

const Filters = Type.Object(
  {
    kinds: optional(filters.kinds),
    names: optional(filters.names),
    tags: optional(tags(TAGS, FILTER_TAGS)),
    prompt_slug: optional(filters.prompt_slug),
  },
  {
    description:
      'Which new spans the judge evaluates; for traces and sessions: those with such a span. Absent filters do not restrict.',
  },
);

const FiltersRead = Type.Object(
  {
    kinds: Type.Array(kind, { description: KINDS }),
    names: Type.Array(Type.String({ description: 'Name of a span.' }), { description: NAMES }),
    tags: byKey(Type.String(), { description: TAGS }),
    prompt_slug: orNull(
      Type.String({ description: 'Slug of a prompt, to evaluate only its completions; null: any span.' }),
    ),
  },
  { description: 'Which new spans the judge evaluates; for traces and sessions: those with such a span.' },
);

/** Longest name of a model, in characters. */
export const MAX_MODEL = 512;

/**
 * A setting whose answers need no bounds.
 * @param bounded its schema with a description
 * @param standard its default; null: it may be null
 */
function setting<T extends TSchema, const D>(
  bounded: (description: string) => T,
  standard: D,
  { sent, answered }: Readonly<Record<'sent' | 'answered', string>>,
) {
  const schema = bounded(answered);
  const read = (value: TSchema) => Type.Unsafe<Static<T> | D>(standard === null ? orNull(value) : value);
  return {
    sent: optional(bounded(sent)),
    answered: read(Type.Unsafe({ description: answered, type: schema['type'] as string })),
    moved: read(schema),
    standard,
  };
}

const bound = (what: string) =>
  setting(number, null, { sent: `${what}; for scored judges only.`, answered: `${what}; null for a binary judge.` });

const MODEL = 'the model bound to the version of its prompt, else `JUDGE_LLM_MODEL`.';
const SHARE = 'Share of the matching new spans, traces or sessions that the judge evaluates, from 0 to 1.';
const ENABLED = 'Whether the judge evaluates new spans automatically.';
const CRITERIA = 'Criteria that the judge evaluates by.';
const name = line(200, 'Name of the judge.');
const INSTRUCTION = 'Slug of the prompt with its instruction.';

/**
 * Every setting, in the order in which they are answered: its schema as clients send it, as it is answered, and as it is
 * exported and imported, and what it is where no one says otherwise.
 */
export const SETTINGS = {
  name: { sent: name, answered: Type.String({ description: 'Name of the judge.' }), moved: name, standard: '' },
  task_slug: {
    sent: optional(Type.String({ ...Slug, description: 'Slug of an existing prompt to use as the instruction.' })),
    answered: Type.String({ description: INSTRUCTION }),
    moved: Type.String({ ...Slug, description: INSTRUCTION }),
    standard: '',
  },
  evaluation_type: { sent: EvaluationType, answered: EvaluationType, moved: EvaluationType, standard: 'binary' },
  subject: { sent: optional(Subject), answered: Subject, moved: Subject, standard: 'span' },
  quiet_seconds: setting((description) => Type.Integer({ minimum: 1, maximum: 86_400, description }), null, {
    sent: `${QUIET}. Default: 30 for a trace, 600 for a session.`,
    answered: `${QUIET}; null: 30 for a trace, 600 for a session.`,
  }),
  context_tokens: setting((description) => Type.Integer({ minimum: 500, maximum: 200_000, description }), null, {
    sent: `${CONTEXT}. Default: 8000.`,
    answered: `${CONTEXT}; null: 8000.`,
  }),
  context_kinds: {
    sent: optional(Type.Array(kind, { maxItems: MAX_LISTED, description: CONTEXT_KINDS })),
    answered: Type.Array(kind, { description: CONTEXT_KINDS }),
    moved: Type.Array(kind, { maxItems: MAX_LISTED, description: CONTEXT_KINDS }),
    standard: [],
  },
  score_min: bound('Lowest score'),
  score_max: bound('Highest score'),
  pass_threshold: bound('Lowest passing score'),
  criteria: {
    sent: optional(
      Type.Array(Criterion, {
        maxItems: MAX_CRITERIA,
        description: `${CRITERIA} A scored judge scores each of them too.`,
      }),
    ),
    answered: Type.Array(CriterionRead, { description: CRITERIA }),
    moved: Type.Array(Type.Object(criterion, { description: 'A criterion.' }), {
      maxItems: MAX_CRITERIA,
      description: CRITERIA,
    }),
    standard: [],
  },
  model: setting((description) => line(MAX_MODEL, description), null, {
    sent: `Model, as the model endpoint names it. Absent: ${MODEL}`,
    answered: `Model; null: ${MODEL}`,
  }),
  temperature: setting((description) => Type.Number({ minimum: 0, maximum: 2, description }), null, {
    sent: "Temperature of the model; absent: the model's own default.",
    answered: "Temperature of the model; null: the model's own default.",
  }),
  sample_rate: setting((description) => Type.Number({ minimum: 0, maximum: 1, description }), 1, {
    sent: `${SHARE} Default: 1.`,
    answered: SHARE,
  }),
  filters: {
    sent: optional(Filters),
    answered: FiltersRead,
    moved: Type.Object(
      { ...filters, prompt_slug: orNull(filters.prompt_slug) },
      { description: FiltersRead.description ?? '' },
    ),
    standard: { kinds: [], names: [], tags: {}, prompt_slug: null },
  },
  enabled: setting((description) => Type.Boolean({ description }), true, {
    sent: `${ENABLED} Default: true.`,
    answered: ENABLED,
  }),
} as const;

type Settings = typeof SETTINGS;
export type SettingName = keyof Settings;

/** Settings of a judge: the fields that a client may set. */
export type JudgeSettings = DeepReadonly<{ [K in SettingName]: Static<Settings[K]['answered']> }>;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** The schemas of all settings where they are sent, answered or exported. */
export function settingSchemas<P extends 'sent' | 'answered' | 'moved'>(part: P) {
  const schemas = SETTING_NAMES.map((name) => [name, SETTINGS[name][part]]);
  return Object.fromEntries(schemas) as { [K in SettingName]: Settings[K][P] };
}

/** The settings of what has them. @param of the value of a setting */
export function settingsBy(of: (name: SettingName) => unknown): JudgeSettings {
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, of(name)])) as unknown as JudgeSettings;
}
