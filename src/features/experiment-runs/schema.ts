import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { byKey, count, line, number, orNull } from '../../engine/schema/parts.js';
import { TagName } from '../../engine/schema/tag.js';
import { LONGEST_ROW_ID } from '../../engine/traces/model/experiment/mark.js';
import { ExperimentDescription, ExperimentInput, ExperimentName, Repetitions } from '../experiments/schema.js';
import { Slug, VersionNumber } from '../prompts/schema.js';

/** Most results that one run makes: each is a call of a model. */
export const MAX_RUN_RESULTS = 100_000;
/** Most rows that a run names. */
const MAX_NAMED_ROWS = 1_000;
const MAX_VARIABLES = 100;
const MAX_COLUMN = 1_000;
const MAX_RUN_TAGS = 10;

export const RunInput = Type.Object(
  {
    dataset: ExperimentInput.properties.dataset,
    dataset_version: ExperimentInput.properties.dataset_version,
    prompt_slug: Type.String({ ...Slug, description: 'Slug of the prompt.' }),
    prompt_version: optional({ ...VersionNumber, description: 'Number of its version. Default: the newest.' }),
    prompt_tag: optional(Type.String({ ...TagName, description: 'Tag of its version, instead of the number.' })),
    model: optional(
      line(
        512,
        'Model, as the model endpoint names it. Default: the one bound to the version, else `JUDGE_LLM_MODEL`.',
      ),
    ),
    temperature: optional(
      Type.Number({ minimum: 0, maximum: 2, description: "Temperature. Default: the model's own." }),
    ),
    repetitions: optional({ ...Repetitions, description: `${Repetitions.description} Default: 1.` }),
    rows: optional(
      Type.Union(
        [
          Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_ROW_ID }), {
            minItems: 1,
            maxItems: MAX_NAMED_ROWS,
          }),
          Type.Integer({ minimum: 1, maximum: MAX_RUN_RESULTS }),
        ],
        { description: 'The only rows to run: their ids, or how many of the first rows. Default: all.' },
      ),
    ),
    variables: optional(
      byKey(Type.String({ minLength: 1, maxLength: MAX_COLUMN }), {
        maxProperties: MAX_VARIABLES,
        propertyNames: { maxLength: MAX_COLUMN, 'x-must': `have keys of at most ${MAX_COLUMN} characters` },
        description:
          'Column of the dataset for each variable of the prompt. Default: the column of the same name, unless its role is `expected`.',
      }),
    ),
    name: optional({ ...ExperimentName, description: 'Name of the experiment. Default: prompt, version and model.' }),
    description: optional(ExperimentDescription),
    max_cost: optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        description:
          'Most US dollars that the run may cost. It stops before a call that would exceed it, by an estimate of that call.',
      }),
    ),
    tags: optional(
      Type.Array(TagName, {
        maxItems: MAX_RUN_TAGS,
        description: 'Tags to point to the experiment.',
      }),
    ),
    dry_run: optional(
      Type.Boolean({
        description: 'true: returns what the run would cost (200), and creates nothing. Default: false.',
      }),
    ),
  },
  { $id: 'ExperimentRunInput', description: 'A prompt, a model and the rows on which to run them.' },
);
export type RunInput = Static<typeof RunInput>;

export const RunEstimateRead = Type.Object(
  {
    model: Type.String({ description: 'Model to call.' }),
    prompt_version: Type.Integer({ minimum: 1, description: 'Version of the prompt.' }),
    dataset_version: Type.Integer({ minimum: 1, description: 'Version of the dataset.' }),
    rows: count('Rows to run.'),
    calls: count('Model calls, without those that are repeated after a failure.'),
    input_tokens: count('Estimated input tokens of all calls, at four characters each.'),
    output_tokens: count('Estimated output tokens of all calls.'),
    cost: orNull(number('Estimated cost in US dollars; null: unknown.')),
    cost_unknown_reason: orNull(Type.String({ description: 'Why the cost is unknown; null if it is known.' })),
  },
  { $id: 'ExperimentRunEstimate', description: 'Estimate for a run.' },
);
export type RunEstimate = Static<typeof RunEstimateRead>;
