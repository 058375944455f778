import { Type, type Static, type TSchema, type TUnsafe } from '@sinclair/typebox';
import { CriterionRead as FeedbackCriterion, MAX_CRITERIA as MAX_FEEDBACK_CRITERIA } from '../feedback/schema.js';
import { MAX_EXPECTED_OUTPUT, MAX_REASON } from '../feedback/schema.js';
import { MAX_NAME_LENGTH } from '../../engine/identity/identity.js';
import { EvaluationRead, JudgeRead, MAX_EVALUATION_REASON } from '../judges/schema.js';
import { CRITERION_KEY, MAX_CRITERIA, MAX_MODEL, settingSchemas } from '../judges/settings.js';
import { MAX_COLUMNS, MAX_DATASET_VERSIONS, MAX_ROWS } from '../datasets/dataset.js';
import { MAX_ROW_ID } from '../datasets/files/row-set.js';
import { ColumnName, DatasetName, DatasetRead, Description, MAX_MESSAGE, VersionRead } from '../datasets/schema.js';
import { METRIC_FIELDS, SCORER_FIELDS } from '../experiments/eval-schema.js';
import { VERDICTS } from '../comparisons/comparison.js';
import { MAX_REPETITIONS, METRIC_SCOPES, PHASES, STORED_STATUSES } from '../experiments/experiment.js';
import { ExperimentDescription, ExperimentName, Repetitions } from '../experiments/schema.js';
import { callFields, spanFields, type SpanCall } from '../../engine/traces/model/list/fields.js';
import { CACHE_READ, ModelName, ProviderName, rate, rates } from '../prices/schema.js';
import { ContentHash, MAX_CONTENT_BYTES, ModelId, MAX_VERSIONS, Slug, VersionNumber } from '../prompts/schema.js';
import { MAX_NAME } from '../review/schema.js';
import { attributes, label, MAX_TAGS, optional, tags } from '../../engine/schema/inputs.js';
import { byKey, count, number, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { TagName } from '../../engine/schema/tag.js';
import { ScoreName } from '../../engine/traces/model/score/schema.js';
import { LINK_TYPES } from '../review/feedback-link.js';
import { MAX_LINK_SPANS } from '../review/schema.js';
import { ScoreDefinitionInput, ScoreDefinitionRead, ScoreInput } from '../scores/schema.js';
import { SpanInput } from '../../engine/traces/model/span/schema.js';
import { TraceInput } from '../../engine/traces/model/trace/schema.js';
import type { Part } from './parts.js';

/*
 * The records that a project is exported as and imported from: what the other calls of the API answer, with what these
 * leave out because nobody else needs it. Schemas are those of bodies, since the records come from a file: what other
 * calls bound is bounded here, too, by the same numbers, but for what is larger once it is stored. What no schema says of
 * them is in `TransferService`, and how many there may be in the store.
 */

/** Composed, as names of reviewers are stored, a text has at most so many times its characters. */
const COMPOSED = 3;
/** Longest answer of a model, also of earlier versions, which could be told to keep so much: its reasons are kept whole. */
export const MAX_MODEL_ANSWER = 8_000_000;

/**
 * The highest revision of a set of corrections that is exported or imported. Nobody has counted so far: the rest of the numbers that
 * JavaScript reads exactly, as many again, is there to count on.
 */
export const MAX_REVISIONS = 2 ** 52;

/** Most traces that one evaluation is moved with. */
export const MAX_JUDGED_TRACES = 1_000;

const person = (what: string) =>
  Type.Object(
    {
      id: uuid('Id of the user.'),
      name: Type.String({
        maxLength: Math.max(MAX_NAME_LENGTH, COMPOSED * MAX_NAME),
        description: 'Name of the user.',
      }),
    },
    { description: `${what} A person who is unknown in the project is known only by name, and cannot sign in.` },
  );
const text = (maxLength: number, description: string) => Type.String({ maxLength, description });
const json = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
const revision = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_REVISIONS, description });
const record = <T extends Parameters<typeof Type.Object>[0]>(id: string, description: string, properties: T) =>
  Type.Object(properties, { $id: `Exported${id}`, description });

const prompts = record('Prompt', 'A prompt.', {
  id: uuid('Id of the prompt.'),
  slug: Slug,
  last_version: Type.Integer({
    minimum: 0,
    maximum: MAX_VERSIONS,
    description: 'The highest number that a version of it ever had.',
  }),
  created_at: time('When the prompt was created.'),
});

const prompt_versions = record('PromptVersion', 'A version of a prompt.', {
  id: uuid('Id of the version.'),
  prompt_id: uuid('The prompt.'),
  version: Type.Integer({ ...VersionNumber, maximum: MAX_VERSIONS }),
  content: Type.String({
    ...{ minLength: 1, maxLength: MAX_CONTENT_BYTES },
    description: 'Text of the version; of a chat version, its messages as JSON.',
  }),
  is_chat: Type.Optional(Type.Boolean({ description: 'Whether it is a chat version. Default: false.' })),
  config: Type.Optional(json('JSON that belongs to the version. Default: none.')),
  content_hash: ContentHash,
  model_id: orNull(Type.String({ ...ModelId, description: 'Model bound to the version; null: none.' })),
  metadata: json('Any JSON stored with the version.'),
  created_at: time('When the version was created.'),
  created_by: person('Who created it.'),
  updated_at: time('When its model was last bound.'),
});

const tag_moves = record('TagMove', 'A move of a tag; the last one of a tag says where it points.', {
  prompt_id: uuid('The prompt.'),
  tag: TagName,
  version: orNull(VersionNumber),
  pinned_at: time('When it was moved.'),
  pinned_by: person('Who moved it.'),
});

const prices = record('Price', 'A custom price of the project.', {
  provider: ProviderName,
  model: ModelName,
  ...rates,
  cache_read_per_million: orNull(rate(CACHE_READ)),
  created_at: time('When it was first set.'),
  updated_at: time('When it was last set.'),
});

const score_definitions = record('ScoreDefinition', 'What values the scores of a name have.', {
  ...ScoreDefinitionInput.properties,
  name: ScoreName,
  created_at: ScoreDefinitionRead.properties.created_at,
  updated_at: ScoreDefinitionRead.properties.updated_at,
});

const datasets = record('Dataset', 'A dataset.', {
  id: uuid('Id of the dataset.'),
  name: DatasetName,
  description: Description,
  roles: DatasetRead.properties.roles,
  created_at: time('When it was created.'),
  created_by: person('Who created it.'),
  updated_at: time('When it was last changed.'),
});

const versionNumber = Type.Integer({ minimum: 1, maximum: MAX_DATASET_VERSIONS, description: 'Number of a version.' });
const { row_count, added, changed, removed } = VersionRead.properties;
const dataset_versions = record(
  'DatasetVersion',
  'A version of a dataset. Its number follows that of the one before.',
  {
    id: uuid('Id of the version.'),
    dataset_id: uuid('The dataset.'),
    number: versionNumber,
    message: text(MAX_MESSAGE, 'What was said about it.'),
    columns: Type.Array(ColumnName, { maxItems: MAX_COLUMNS, description: 'Names of the columns, in their order.' }),
    row_count: { ...row_count, maximum: MAX_ROWS },
    ...{ added, changed, removed },
    created_at: time('When it was made.'),
    created_by: person('Who made it.'),
  },
);

const dataset_rows = record('DatasetRow', 'A row of a dataset, as it is from one version on.', {
  dataset_id: uuid('The dataset.'),
  row_id: Type.String({ minLength: 1, maxLength: MAX_ROW_ID, description: 'Id of the row.' }),
  position: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Rows are in this order.' }),
  from_version: versionNumber,
  to_version: orNull({ ...versionNumber, description: 'The first version without it; null: none.' }),
  content: orNull(json('Values by column; null: erased, as its span was deleted.')),
  trace_id: orNull(uuid('Trace of the span that it was made of; null: of none.')),
  span_id: orNull(uuid('The span.')),
});

const dataset_tag_moves = record('DatasetTagMove', 'A move of a tag of a dataset; the last one says where it points.', {
  dataset_id: uuid('The dataset.'),
  tag: TagName,
  number: orNull({
    ...versionNumber,
    description: 'The version that it points to from then on; null: it was removed.',
  }),
  moved_at: time('When it was moved.'),
  moved_by: person('Who moved it.'),
});

const experiments = record('Experiment', 'An experiment. Its results are spans.', {
  id: uuid('Id of the experiment.'),
  name: ExperimentName,
  description: ExperimentDescription,
  dataset_id: uuid('The dataset; it may be gone.'),
  dataset_name: DatasetName,
  dataset_version: versionNumber,
  row_count: { ...row_count, maximum: MAX_ROWS },
  repetitions: Repetitions,
  status: oneOf(STORED_STATUSES, 'Whether it takes results.'),
  phase: orNull(oneOf(PHASES, 'What a client says beside that.')),
  active_at: time('When it was created, or got its last result.'),
  subject: json('What runs.'),
  parameters: json('What was set.'),
  created_at: time('When it was created.'),
  created_by: person('Who created it.'),
  finished_at: orNull(time('When it was finished or canceled.')),
});

const { name: scorerName, code, description: scorerDescription, outputs, output_formats } = SCORER_FIELDS;
const experiment_scorers = record('ExperimentScorer', 'A program of a client that scores results of an experiment.', {
  id: uuid('Id of the scorer.'),
  experiment_id: uuid('The experiment.'),
  ...{
    name: scorerName,
    mode: SCORER_FIELDS.scoring_mode,
    code,
    description: scorerDescription,
    outputs,
    output_formats,
  },
  created_at: time('When it was created.'),
});

const experiment_metrics = record('ExperimentMetric', 'Figures of an experiment, as a client computed them.', {
  experiment_id: uuid('The experiment.'),
  scope: oneOf(METRIC_SCOPES, 'Whether they are of one repetition, or of all.'),
  name: METRIC_FIELDS.metric_name,
  repetition: Type.Integer({ minimum: 0, maximum: MAX_REPETITIONS, description: 'The repetition; 0: all.' }),
  results: json('The figures.'),
  output_formats,
  created_at: time('When they were received.'),
});

const experiment_tag_moves = record(
  'ExperimentTagMove',
  'A move of a tag of the experiments of a dataset; the last one says where it points.',
  {
    dataset_id: uuid('The dataset.'),
    tag: TagName,
    experiment_id: orNull(uuid('The experiment that it points to from then on; null: it was removed.')),
    moved_at: time('When it was moved.'),
    moved_by: person('Who moved it.'),
  },
);

const comparisons = record('Comparison', 'A comparison of two experiments.', {
  id: uuid('Id of the comparison.'),
  dataset_id: uuid('The dataset; it may be gone.'),
  dataset_name: DatasetName,
  candidate_id: uuid('The candidate.'),
  candidate_name: ExperimentName,
  candidate_version: versionNumber,
  baseline_id: uuid('The baseline.'),
  baseline_name: ExperimentName,
  baseline_version: versionNumber,
  verdict: oneOf(VERDICTS, 'What was found.'),
  request: json('What was asked: metrics with their rules, confidence, slices and how errors count.'),
  is_repeat: Type.Optional(Type.Boolean({ description: 'Whether both experiments tried the same.' })),
  found: json('What was found: why, the number of rows, those left out, and the metrics.'),
  created_at: time('When it was made.'),
  created_by: person('Who made it.'),
});

const feedback_links = record(
  'FeedbackLink',
  'A link through which people gave feedback. Its token is unknown, so it does not work: it records whose ' +
    'feedback came through it.',
  {
    id: uuid('Id of the link.'),
    prompt_id: orNull(uuid('The prompt; null: spans are reviewed.')),
    link_type: oneOf(LINK_TYPES, 'What is reviewed.'),
    span_ids: Type.Optional(
      orNull(Type.Array(uuid('A span.'), { minItems: 1, maxItems: MAX_LINK_SPANS, description: 'The spans.' })),
    ),
    created_at: time('When it was created.'),
    created_by: person('Who created it.'),
    expires_at: time('When it expires.'),
    revoked_at: orNull(time('When it was revoked; null if it was not.')),
  },
);

const { id, created_at, updated_at } = JudgeRead.properties;
const { subject, quiet_seconds, context_tokens, context_kinds, ...settings } = settingSchemas('moved');
/** Settings that earlier exports do not have: they have their defaults. */
const later = {
  subject: Type.Optional(subject),
  quiet_seconds: Type.Optional(quiet_seconds),
  context_tokens: Type.Optional(context_tokens),
  context_kinds: Type.Optional(context_kinds),
};
const judges = record('Judge', 'A judge, including deleted ones. It is disabled when it is imported.', {
  id,
  ...settings,
  ...later,
  created_at,
  created_by: person('Who created it.'),
  updated_at,
  deleted_at: orNull(time('When it was deleted; null if it was not.')),
  corrections_revision: revision('Revision of its set of corrections.'),
  corrections_last_removal: revision('The last revision at which one of them was removed; 0: none ever was.'),
});

/** Schemas of call fields, by type. */
const ofCall = {
  text: (description: string) => Type.String({ description }),
  integer: (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }),
  id: uuid,
};
const call = Object.fromEntries(
  Object.entries(callFields).map(([name, { type, description }]) => [name, orNull(ofCall[type](description))]),
) as unknown as { [K in keyof SpanCall]: TUnsafe<SpanCall[K]> };

const { session: _session, id: _id, signals: _signals, ab_choices: _choices, ...sent } = SpanInput.properties;
const spans = record('Span', 'A span, with the call attributes that were found in its attributes.', {
  ...sent,
  // Clients send them in two places.
  session_tags: optional(tags(spanFields.session_tags.description, { count: 2 * MAX_TAGS })),
  id: uuid('Span id; with the trace id it identifies the span.'),
  ...call,
  prompt_slug: orNull(Type.String({ ...Slug, description: callFields.prompt_slug.description })),
  cost_calculated: Type.Boolean({ description: 'Whether the cost was calculated, and follows prices.' }),
  created_at: time('When the stored version of the span was received.'),
  written_at: time('When a client last wrote the span: of two spans with its ids, the later one stays.'),
});

const traces = record('Trace', 'Posted data of a trace; everything else about it comes from its spans.', {
  ...TraceInput.properties,
  id: uuid('Trace id.'),
});

const sessions = record('Session', 'Posted data of a session; everything else about it comes from its traces.', {
  id: uuid('Session id.'),
  name: optional(label('Name of the session.')),
  attributes: optional(attributes('Arbitrary key-value attributes.')),
  tags: optional(tags('Tags of the session; they override tags from its spans.')),
});

const scores = record('Score', 'A score of a span, trace or session.', {
  ...ScoreInput.properties,
  created_at: time('When its value was received: of two scores with the same id, the later one stays.'),
});

const attachments = record('Attachment', 'An image, and one span that shows it.', {
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$', 'x-must': 'be 64 hexadecimal digits', description: 'Its SHA-256.' }),
  media_type: text(100, 'Its media type.'),
  bytes: count('Its size.'),
  trace_id: uuid('Trace of the span.'),
  span_id: uuid('The span.'),
  base64: orNull(
    Type.String({
      description: 'The image; null: it came with an earlier record of the same hash, or was missing at the export.',
    }),
  ),
});

const byCriterion = {
  maxProperties: MAX_CRITERIA,
  propertyNames: { pattern: CRITERION_KEY, 'x-must': 'have keys of criteria' },
};
const {
  evaluation_reason,
  criteria_scores,
  model_used,
  judge_version,
  // Its judge says it.
  subject: _subject,
  ...evaluated
} = EvaluationRead.properties;
const evaluations = record('Evaluation', 'An evaluation of a span by a judge.', {
  ...evaluated,
  evaluation_reason: text(MAX_EVALUATION_REASON, evaluation_reason.description ?? ''),
  criteria_scores: orNull(
    byKey(
      Type.Object(
        { score: number('Score of the criterion.'), reason: text(MAX_MODEL_ANSWER, 'Reason for the score.') },
        { description: 'Score of one criterion.' },
      ),
      { ...byCriterion, description: criteria_scores.description ?? '' },
    ),
  ),
  // A provider's name may stand in front of it.
  model_used: orNull(text(2 * MAX_MODEL, model_used.description ?? '')),
  judge_version: orNull(text(100, judge_version.description ?? '')),
  confidence_score: orNull(Type.Number({ minimum: 0, maximum: 1, description: 'Confidence of the judge.' })),
  prompt_version_id: orNull(uuid("Version of the judge's prompt that produced it; null: unknown.")),
  subject_id: Type.Optional(
    orNull(uuid('The trace or session that was evaluated, for which the span stands; null: the span itself was.')),
  ),
  subject_arrived_at: Type.Optional(
    orNull(time('When the last of its spans had arrived that the judge was shown; null: a span was evaluated.')),
  ),
  trace_ids: Type.Optional(
    orNull(
      Type.Array(uuid('A trace.'), {
        ...{ minItems: 1, maxItems: MAX_JUDGED_TRACES, uniqueItems: true },
        description:
          'The traces that the judge was shown: the deletion of a span of them deletes the evaluation. null: a span was evaluated.',
      }),
    ),
  ),
});

const said = {
  thumbs_up: Type.Boolean({ description: 'true: good, or the judge was right.' }),
  reason: orNull(text(MAX_REASON, 'Why.')),
  expected_output: orNull(text(MAX_EXPECTED_OUTPUT, 'The expected output.')),
  expected_score: orNull(number('Score that the judge should have given.')),
  score_direction: orNull(oneOf(['too_high', 'too_low'], "Direction in which the judge's score is wrong.")),
  criteria_feedback: orNull(
    byKey(
      Type.Object(
        { ...FeedbackCriterion.properties, reason: orNull(text(MAX_REASON, 'Why.')) },
        { description: 'Feedback on one criterion.' },
      ),
      { ...byCriterion, maxProperties: MAX_FEEDBACK_CRITERIA, description: 'By key of the criterion.' },
    ),
  ),
};

const feedback = record('Feedback', "Feedback of one user on a completion, or on a judge's evaluation of it.", {
  id: uuid('Id of the feedback.'),
  prompt_id: uuid('The prompt.'),
  completion_id: uuid('Id of the span.'),
  judge_id: orNull(uuid('The judge that it is about; null: it is about the completion itself.')),
  ...said,
  metadata: json('Any JSON stored with the feedback.'),
  created_at: time('When it was first given.'),
  updated_at: time('When it was last given.'),
  created_by: person('Who gave it.'),
  feedback_link_id: orNull(uuid('The link through which it came; null: the API.')),
});

const { prompt_id: _prompt, judge_id: _judge, ...ofSpan } = feedback.properties;
const span_feedback = record('SpanFeedback', 'Feedback of one user on a span that names no prompt.', ofSpan);

const corrections = record('Correction', 'What a user said about one evaluation, as the judge gets it.', {
  feedback_id: uuid('The feedback that it comes from.'),
  evaluation_id: orNull(uuid('The evaluation; null: the judge had not evaluated the span.')),
  revision: revision("Revision of the judge's set that it created."),
  ...said,
  given_at: time('When it was given.'),
});

/** The schema of the records of each part. */
export const RECORDS = {
  prompts,
  prompt_versions,
  tag_moves,
  prices,
  score_definitions,
  datasets,
  dataset_versions,
  dataset_rows,
  dataset_tag_moves,
  experiments,
  experiment_scorers,
  experiment_metrics,
  experiment_tag_moves,
  comparisons,
  feedback_links,
  judges,
  spans,
  traces,
  sessions,
  scores,
  attachments,
  evaluations,
  feedback,
  span_feedback,
  corrections,
} as const satisfies Record<Part, TSchema>;

export type SpanRecord = Static<typeof spans>;
export type TraceRecord = Static<typeof traces>;
export type SessionRecord = Static<typeof sessions>;
export type ScoreRecord = Static<typeof scores>;
export type AttachmentRecord = Static<typeof attachments>;
