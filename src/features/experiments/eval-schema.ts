import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { byKey, line, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { LONGEST_ROW_ID } from '../../engine/traces/model/experiment/mark.js';
import { MAX_REPETITIONS, SCORER_MODES } from './experiment.js';
import { ExperimentDescription, ExperimentName, FiguresRead, MAX_DESCRIPTION, Parameters } from './schema.js';

/* Experiments as the Python SDK sends and reads them, which calls them evals. */

/** What the SDK calls the status. */
export const EVAL_STATUSES = ['running', 'scoring', 'completed', 'failed', 'canceled', 'expired'] as const;
export type EvalStatus = (typeof EVAL_STATUSES)[number];
/** What it may set. */
export const SET_STATUSES = ['running', 'scoring', 'completed', 'failed', 'canceled'] as const;

/** Most results in one request: the SDK sends those of all rows at once. */
const MAX_SENT = 100_000;
const MAX_CODE = 262_144;
const MAX_OUTPUTS = 64;
const MAX_SCORES = 1_000;

const note = (maxLength: number, description: string) => Type.String({ maxLength, description });
const totalRepetitions = Type.Integer({
  minimum: 1,
  maximum: MAX_REPETITIONS,
  description: 'How often each row is run.',
});

export const EvalInput = Type.Object(
  {
    project_id: optional(uuid('The project; it must be that of the API key.')),
    dataset_id: uuid('Id of the dataset.'),
    dataset_version_id: optional(uuid('Id of its version.')),
    dataset_ref: optional(
      Type.String({ maxLength: 64, description: 'Another name of the version: `main` is the newest.' }),
    ),
    dataset_commit_sha: optional(note(200, 'Ignored.')),
    subset_name: optional(note(200, 'Ignored: a version has one part.')),
    name: ExperimentName,
    description: optional(ExperimentDescription),
    config: optional(Parameters),
    total_repetitions: optional(totalRepetitions),
    model_id: optional(note(1_000, 'Model that is tried.')),
  },
  { $id: 'EvalInput', description: 'A new experiment, as the Python SDK creates it.' },
);
export type EvalInput = Static<typeof EvalInput>;

export const EvalPatch = Type.Object(
  {
    status: optional(
      oneOf(
        SET_STATUSES,
        'running and scoring let it go on, completed and failed finish it. A canceled one stays canceled (409).',
      ),
    ),
    total_repetitions: optional(totalRepetitions),
    description: optional(ExperimentDescription),
  },
  { $id: 'EvalPatch', description: 'What to change.' },
);
export type EvalPatch = Static<typeof EvalPatch>;

const evalFields = {
  id: uuid('Id of the experiment.'),
  project_id: uuid('The project.'),
  dataset_id: uuid('Id of the dataset.'),
  dataset_version: Type.Integer({ minimum: 1, description: 'Number of the version of the dataset.' }),
  name: Type.String({ description: 'Name of the experiment.' }),
  description: Type.String({ description: 'What runs.' }),
  status: oneOf(EVAL_STATUSES, 'The status, as the SDK calls it.'),
  total_repetitions: Type.Integer({ minimum: 1, description: 'How often each row is run.' }),
  model_id: orNull(Type.String({ description: 'Model that is tried.' })),
  config: Parameters,
  created_at: time('When it was created.'),
  finished_at: orNull(time('When it was finished or canceled.')),
};
export const EvalRead = Type.Object(evalFields, {
  $id: 'Eval',
  description: 'An experiment, as the Python SDK reads it.',
});

export const EvalResults = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          row_id: Type.Union([Type.String({ minLength: 1, maxLength: LONGEST_ROW_ID }), Type.Integer({ minimum: 0 })], {
            description:
              'Id of the row, or its place in the version, from 0. The result of another row is stored without the row.',
          }),
          result: Type.Optional(
            Type.Unknown({
              description: 'The result. `_runtime.error` and `_runtime.error_code` say what went wrong.',
            }),
          ),
          trace_id: optional(
            Type.Union([uuid(''), Type.Literal('')], { description: 'The trace in which it was made.' }),
          ),
          repetition_number: optional(
            Type.Integer({ minimum: 1, maximum: MAX_REPETITIONS, description: 'Which repetition it is. Default: 1.' }),
          ),
        },
        { description: 'A result.' },
      ),
      { maxItems: MAX_SENT, description: 'The results.' },
    ),
  },
  { $id: 'EvalResults', description: 'Results, as the Python SDK sends them.' },
);
export type EvalResults = Static<typeof EvalResults>;

export const EvalStoredResult = Type.Object(
  { row_id: Type.String({ description: 'Id of the row, as it was sent.' }), id: uuid('Id of the result.') },
  { $id: 'EvalStoredResult', description: 'A result that was stored.' },
);

export const EvalResultRead = Type.Object(
  {
    id: uuid('Id of the result, which is the id of its span.'),
    row_id: Type.String({ description: 'Id of the row.' }),
    result: orNull(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'The result; one that is no object is the value of `output`. null: there is none.',
      }),
    ),
    trace_id: uuid('The trace in which it was made; its own trace if none was named.'),
    repetition_number: Type.Integer({ minimum: 1, description: 'Which repetition it is.' }),
    has_error: Type.Boolean({ description: 'Whether something went wrong.' }),
  },
  { $id: 'EvalResult', description: 'A result, as the Python SDK reads it.' },
);

const outputFormats = byKey(note(64, 'Such as `number` or `percentage`.'), {
  maxProperties: MAX_OUTPUTS,
  propertyNames: { maxLength: 200, 'x-must': 'have keys of at most 200 characters' },
  description: 'How values are shown, by name.',
});
/** What a client says of a scorer. */
export const SCORER_FIELDS = {
  name: line(200, 'Name of the scorer.'),
  scoring_mode: oneOf(SCORER_MODES, 'Whether it scores rows, all results of a repetition, or all repetitions.'),
  code: note(MAX_CODE, 'Its code.'),
  description: note(MAX_DESCRIPTION, 'What it does.'),
  outputs: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    maxItems: MAX_OUTPUTS,
    description: 'Names of its scores.',
  }),
  output_formats: outputFormats,
};
export const ScorerInput = Type.Object(
  {
    name: SCORER_FIELDS.name,
    scoring_mode: optional(SCORER_FIELDS.scoring_mode),
    code: optional(SCORER_FIELDS.code),
    description: optional(SCORER_FIELDS.description),
    outputs: optional(SCORER_FIELDS.outputs),
    output_formats: optional(SCORER_FIELDS.output_formats),
  },
  { $id: 'EvalScorerInput', description: 'A program of the client that scores results.' },
);
export type ScorerInput = Static<typeof ScorerInput>;

export const ScorerRead = Type.Object(
  {
    id: uuid('Id of the scorer.'),
    ...SCORER_FIELDS,
    created_at: time('When it was created.'),
  },
  { $id: 'EvalScorer', description: 'A program of a client that scores results.' },
);

export const OutputFormats = Type.Object(
  { output_formats: outputFormats },
  { $id: 'EvalOutputFormats', description: 'How the scores of a scorer are shown.' },
);

export const ScorerScores = Type.Array(
  Type.Object(
    {
      eval_result_id: uuid('Id of the result.'),
      score_value: Type.String({
        maxLength: MAX_CODE,
        description:
          'JSON of an object with values by name, or a text. A value that is no object has the name of the scorer.',
      }),
      score_type: optional(oneOf(['json', 'text'], 'What the value is.')),
      trace_id: optional(uuid('The trace in which the scorer ran.')),
    },
    { description: 'What a scorer found of a result.' },
  ),
  { maxItems: MAX_SCORES, description: 'What a scorer found of results.' },
);
export type ScorerScores = Static<typeof ScorerScores>;

export const StoredScore = Type.Object(
  {
    id: orNull(uuid('Id of its first score; null: there is none.')),
    eval_result_id: uuid('Id of the result.'),
  },
  { $id: 'EvalStoredScore', description: 'What became of what a scorer found.' },
);

export const ScorerScoreRead = Type.Object(
  {
    id: uuid('An id that stays the same.'),
    eval_result_id: uuid('Id of the result.'),
    score_value: Type.Record(Type.String(), Type.Union([Type.Number(), Type.Boolean(), Type.String()]), {
      description: 'The scores of the result that the scorer gives, by name.',
    }),
  },
  { $id: 'EvalScore', description: 'Scores of a result.' },
);

/** What a client says of its figures. */
export const METRIC_FIELDS = {
  metric_name: line(200, 'Name of the metric.'),
  results: Type.Record(Type.String(), Type.Unknown(), { description: 'The figures, as the client computed them.' }),
};
const runNumber = Type.Integer({ minimum: 1, maximum: MAX_REPETITIONS, description: 'The repetition. Default: 1.' });
const totalRuns = Type.Integer({ minimum: 1, maximum: MAX_REPETITIONS, description: 'The number of repetitions.' });
export const ColumnMetricInput = Type.Object(
  {
    ...METRIC_FIELDS,
    run_number: optional(runNumber),
    repetition_number: optional({ ...runNumber, description: 'The same as `run_number`.' }),
    output_formats: optional(outputFormats),
  },
  { $id: 'EvalColumnMetricInput', description: 'Figures of all results of a repetition.' },
);
export const RunMetricInput = Type.Object(
  {
    ...METRIC_FIELDS,
    total_runs: optional(totalRuns),
    total_repetitions: optional({ ...totalRuns, description: 'The same as `total_runs`.' }),
    output_formats: optional(outputFormats),
  },
  { $id: 'EvalMetricInput', description: 'Figures of all repetitions.' },
);

export const MetricRead = Type.Object(
  {
    ...METRIC_FIELDS,
    run_number: orNull(Type.Integer({ description: 'The repetition; null: all.' })),
    output_formats: outputFormats,
    created_at: time('When they were received.'),
  },
  { $id: 'EvalMetric', description: 'Figures of an experiment, as the client computed them.' },
);

export const EvalSummary = Type.Object(
  {
    ...evalFields,
    figures: FiguresRead,
    column_metrics: Type.Array(MetricRead, {
      description: 'Figures of single repetitions, as the client computed them.',
    }),
    eval_metrics: Type.Array(MetricRead, { description: 'Figures of all repetitions, as the client computed them.' }),
  },
  { $id: 'EvalSummary', description: 'An experiment with its figures.' },
);
