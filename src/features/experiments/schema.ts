import { Type, type Static } from '@sinclair/typebox';
import type { Issue } from '../../engine/errors.js';
import { optional } from '../../engine/schema/inputs.js';
import { MAX_METADATA } from '../../engine/schema/metadata.js';
import { pageRead } from '../../engine/schema/page.js';
import { jobFields } from '../../engine/work/schema.js';
import { byKey, count, line, number, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { LONGEST_ROW_ID } from '../../engine/traces/model/experiment/mark.js';
import { scoreKeys, ScoreValueInput } from '../../engine/traces/model/score/schema.js';
import { SCORE_KINDS } from '../../engine/traces/model/score/score.js';
import { MAX_BEGINNING, MAX_REPETITIONS, STATUSES } from './experiment.js';

export const MAX_NAME = 200;
export const MAX_DESCRIPTION = 10_000;
const MAX_SUBJECT_TEXT = 1_000;
/** Most scores that one result brings. */
export const MAX_RESULT_SCORES = 64;
const MAX_ERROR = 10_000;

export const ExperimentName = line(MAX_NAME, 'Name of the experiment. Several may have the same.');
export const ExperimentDescription = Type.String({
  maxLength: MAX_DESCRIPTION,
  description: 'What runs, and why.',
});
const subjectText = (description: string) => optional(Type.String({ maxLength: MAX_SUBJECT_TEXT, description }));

/** Most characters of free JSON, by what it is. */
const MOST_JSON = { subject: 16_384, parameters: MAX_METADATA, results: 65_536 } as const;

/** Issues with the JSON of an experiment, or of figures that clients state: no schema bounds how much that is. */
export function jsonIssues(json: Readonly<Partial<Record<keyof typeof MOST_JSON, unknown>>>): Issue[] {
  return Object.entries(json).flatMap(([name, value]) => {
    const most = MOST_JSON[name as keyof typeof MOST_JSON];
    if (value == null || JSON.stringify(value).length <= most) return [];
    return [{ pointer: `/${name}`, detail: `must have at most ${most} characters as JSON` }];
  });
}

/** What an experiment tries. Its size is checked by the service. */
export const Subject = Type.Object(
  {
    commit: subjectText('Commit of the code.'),
    branch: subjectText('Branch of the code.'),
    dirty: optional(Type.Boolean({ description: 'Whether the code had changes that were not committed.' })),
    prompt_slug: subjectText('Slug of the prompt.'),
    prompt_version: optional(Type.Integer({ minimum: 1, maximum: 2 ** 31, description: 'Version of the prompt.' })),
    model: subjectText('Model.'),
    url: subjectText('Address, such as that of the build.'),
  },
  { additionalProperties: true, description: 'What runs: these fields, and any other JSON.' },
);
export type Subject = Static<typeof Subject>;

export const Parameters = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Any JSON with what was set, such as the temperature.',
});
export const Repetitions = Type.Integer({
  minimum: 1,
  maximum: MAX_REPETITIONS,
  description: 'How often each row is run.',
});

export const ExperimentInput = Type.Object(
  {
    name: ExperimentName,
    dataset: Type.String({ minLength: 1, maxLength: 200, description: 'Name or id of the dataset.' }),
    dataset_version: optional(
      Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1, maxLength: 64 })], {
        description: 'Version of the dataset: its number, its id or a tag. Default: the newest.',
      }),
    ),
    description: optional(ExperimentDescription),
    subject: optional(Subject),
    parameters: optional(Parameters),
    repetitions: optional({ ...Repetitions, description: `${Repetitions.description} Default: 1.` }),
  },
  { $id: 'ExperimentInput', description: 'A new experiment.' },
);
export type ExperimentInput = Static<typeof ExperimentInput>;

export const ExperimentPatchInput = Type.Object(
  {
    name: optional(ExperimentName),
    description: optional(ExperimentDescription),
    subject: optional(Subject),
    repetitions: optional(Repetitions),
  },
  { $id: 'ExperimentPatch', description: 'What to change; absent fields stay.' },
);
export type ExperimentPatchInput = Static<typeof ExperimentPatchInput>;

export const ScoreFiguresRead = Type.Object(
  {
    name: Type.String({ description: 'Name of the scores.' }),
    kind: oneOf(SCORE_KINDS, 'What their values are.'),
    count: count('Results with such a score.'),
    mean: orNull(number('Mean of numbers; of booleans, the share that is true.')),
  },
  { description: 'Figures of the scores of one name.' },
);

export const FiguresRead = Type.Object(
  {
    results: count('Results.'),
    rows: count('Rows with a result.'),
    errors: count('Results with an error.'),
    cost: orNull(number('Cost in US dollars of the traces in which results were made; null: unknown.')),
    input_tokens: orNull(count('Input tokens of these traces.')),
    output_tokens: orNull(count('Output tokens of these traces.')),
    duration_ms_p50: orNull(number('Median duration of these traces, in milliseconds.')),
    duration_ms_p95: orNull(number('95th percentile of their duration.')),
    first_at: orNull(time('When the first result was received.')),
    last_at: orNull(time('When the last result was received.')),
    scores: Type.Array(ScoreFiguresRead, { description: 'The scores of results, by name.' }),
  },
  { $id: 'ExperimentFigures', description: 'Figures of the results of an experiment.' },
);

export const DatasetRef = Type.Object(
  {
    id: uuid('Id of the dataset.'),
    name: Type.String({ description: 'Name of the dataset; of one that is gone, the name when the experiment began.' }),
    gone: Type.Boolean({ description: 'Whether the dataset was deleted.' }),
  },
  { description: 'The dataset.' },
);

export const ExperimentRunRead = Type.Object(
  {
    ...jobFields,
    cost: orNull(number('Cost so far in US dollars; null: unknown.')),
    max_cost: orNull(number('Cost in US dollars that the run stops before; null: any.')),
    waiting_reason: orNull(Type.String({ description: 'Why the run waits, such as for a budget; null: it does not.' })),
  },
  { $id: 'ExperimentRun', description: 'The job that makes the results of an experiment.' },
);

export const JudgedFiguresRead = Type.Object(
  {
    judge_id: uuid('Id of the judge.'),
    name: Type.String({ description: 'Name of the judge.' }),
    judge_version: Type.String({ description: 'The version of the judge that evaluates all results.' }),
    evaluation_type: oneOf(['binary', 'scored'], 'Whether it says pass or fail, or gives a score.'),
    evaluated: count('Results that it has evaluated.'),
    passed: count('Results that passed.'),
    rate: orNull(number('Share of the evaluated results that passed; null: there are none.')),
    mean: orNull(number('Mean of the scores; null for a binary judge.')),
    pending: count('Results whose evaluation is queued or running.'),
    failed: count('Results whose evaluation failed; the judge can be run again.'),
    available: Type.Boolean({
      description: 'Whether it can evaluate more: not once a span is deleted whose correction it shows.',
    }),
  },
  { $id: 'ExperimentJudge', description: 'What a version of a judge found of the results.' },
);

export const ExperimentRead = Type.Object(
  {
    id: uuid('Id of the experiment.'),
    name: Type.String({ description: 'Name of the experiment.' }),
    description: Type.String({ description: 'What runs, and why.' }),
    dataset: DatasetRef,
    dataset_version: Type.Integer({ minimum: 1, description: 'Number of the version of the dataset.' }),
    rows: count('Rows of this version.'),
    repetitions: Type.Integer({ minimum: 1, description: 'How often each row is run.' }),
    subject: Type.Record(Type.String(), Type.Unknown(), { description: 'What runs.' }),
    parameters: Parameters,
    status: oneOf(
      STATUSES,
      'running: it takes results; finished, canceled: it takes none; expired: it had none for 24 hours, and runs again with the next one.',
    ),
    created_at: time('When it was created.'),
    created_by: uuid('Id of the user who created it.'),
    finished_at: orNull(time('When it was finished or canceled.')),
    tags: Type.Array(Type.String(), { description: 'Tags that point to it.' }),
    run: orNull(ExperimentRunRead),
    figures: FiguresRead,
    judges: Type.Optional(
      Type.Array(JudgedFiguresRead, {
        description:
          'What judges found, of each version that was run on the experiment, the last one first. Only in the response of getExperiment.',
      }),
    ),
  },
  { $id: 'Experiment', description: 'An experiment, with figures of its results.' },
);

export const ExperimentPage = Type.Object(
  { experiments: Type.Array(ExperimentRead, { description: 'A page of experiments, newest first.' }), ...pageRead },
  { $id: 'ExperimentPage', description: 'A page of experiments.' },
);

export const RowId = Type.String({ minLength: 1, maxLength: LONGEST_ROW_ID, description: 'Id of the row.' });
const REPETITION = 'Which repetition of the row it is, from 1.';
const repetition = Type.Integer({ minimum: 1, maximum: MAX_REPETITIONS, description: REPETITION });

export const ResultInput = Type.Object(
  {
    row_id: RowId,
    repetition: optional({ ...repetition, description: `${REPETITION} Default: 1.` }),
    output_data: Type.Optional(
      Type.Unknown({ description: 'The result: a text, or any JSON, which is stored as text with sorted members.' }),
    ),
    error: optional(
      Type.String({ minLength: 1, maxLength: MAX_ERROR, description: 'What went wrong; absent: nothing.' }),
    ),
    trace_id: optional(
      uuid('The trace in which the result was made. Cost, tokens and duration of the result are those of this trace.'),
    ),
    scores: optional(
      byKey(ScoreValueInput, {
        maxProperties: MAX_RESULT_SCORES,
        propertyNames: scoreKeys,
        description: 'Scores of the result, by name.',
      }),
    ),
  },
  { $id: 'ExperimentResultInput', description: 'The result of a row. Sent again, it replaces the earlier one.' },
);
export type ResultInput = Static<typeof ResultInput>;

export const StoredResultRead = Type.Object(
  {
    id: uuid('Id of the result, which is the id of its span.'),
    row_id: RowId,
    repetition: Type.Integer({ minimum: 1, description: REPETITION }),
  },
  { $id: 'StoredExperimentResult', description: 'A result that was stored.' },
);

export const ResultRead = Type.Object(
  {
    id: uuid('Id of the result, which is the id of its span.'),
    trace_id: uuid('The trace in which it was made; its own trace if none was named.'),
    row_id: Type.String({ description: 'Id of the row.' }),
    repetition: Type.Integer({ minimum: 1, description: REPETITION }),
    output_data: Type.String({ description: 'The result, as text.' }),
    has_error: Type.Boolean({ description: 'Whether something went wrong.' }),
    error_message: orNull(Type.String({ description: 'What went wrong.' })),
    created_at: time('When it was received.'),
    cost: orNull(number('Cost of its trace in US dollars; null: unknown, or several results were made in the trace.')),
    duration_ms: orNull(number('Duration of its trace in milliseconds.')),
    input_tokens: orNull(count('Input tokens of its trace.')),
    output_tokens: orNull(count('Output tokens of its trace.')),
    scores: Type.Record(Type.String(), Type.Union([Type.Number(), Type.Boolean(), Type.String()]), {
      description: 'Its newest score of each name.',
    }),
    row: Type.Optional(
      orNull(
        Type.Object(
          {
            input_data: orNull(
              Type.String({
                description:
                  'Its columns with the role `input`: one text as it is, all else as JSON. If no column has a role, all but `expected`.',
              }),
            ),
            expected: orNull(Type.String({ description: 'Its columns with the role `expected`, in the same way.' })),
          },
          {
            description: `With \`rows=true\`, how what the row says begins, in up to ${MAX_BEGINNING} characters each; null: the row is gone.`,
          },
        ),
      ),
    ),
  },
  { $id: 'ExperimentResult', description: 'The result of a row.' },
);

export const NEXT_OFFSET = '`offset` of the next page. A page of large results ends before its limit.';

export const ResultPage = Type.Object(
  {
    results: Type.Array(ResultRead, { description: 'A page of results, by row and repetition.' }),
    ...pageRead,
    next_offset: orNull(count(`${NEXT_OFFSET} Null: this is the last one.`)),
  },
  { $id: 'ExperimentResultPage', description: 'A page of results.' },
);

export const MissingPage = Type.Object(
  {
    missing: Type.Array(
      Type.Object(
        {
          row_id: Type.String({ description: 'Id of the row.' }),
          repetition: Type.Integer({ minimum: 1, description: REPETITION }),
        },
        { description: 'A result that is missing.' },
      ),
      { description: 'A page of what has no result, in the order of the dataset.' },
    ),
    ...pageRead,
    total: orNull(count('Number of items on all pages; null: with `after`, they are not counted.')),
    next: orNull(Type.String({ description: '`after` of the next page; null: this is the last one.' })),
  },
  { $id: 'MissingExperimentResults', description: 'Rows and repetitions without a result.' },
);

export const ExperimentTagRead = Type.Object(
  {
    tag: Type.String({ description: 'Name of the tag.' }),
    experiment_id: uuid('The experiment that it points to.'),
    dataset_id: uuid('The dataset whose experiments have the tag.'),
  },
  { $id: 'ExperimentTag', description: 'A tag, and the experiment that it points to.' },
);

export const ExperimentTagMoveRead = Type.Object(
  {
    experiment: orNull(
      Type.Object(
        {
          id: uuid('Id of the experiment.'),
          name: orNull(Type.String({ description: 'Its name; null: it was deleted.' })),
        },
        { description: 'The experiment that it points to from then on; null: the tag was removed.' },
      ),
    ),
    at: time('When it was moved.'),
    by: Type.Object(
      { id: uuid('Id of the user.'), name: Type.String({ description: 'Name of the user.' }) },
      { description: 'Who moved it.' },
    ),
  },
  { $id: 'ExperimentTagMove', description: 'A move of a tag.' },
);
