import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { number, oneOf, uuid } from '../../engine/schema/parts.js';
import { ScoreName } from '../../engine/traces/model/score/schema.js';
import { DIRECTIONS, ERROR_WAYS, RULES } from './comparison.js';

/** Most metrics of a comparison. */
export const MAX_METRICS = 64;
/** Most columns that slices are made of. */
export const MAX_SLICES = 5;
/** Longest wait for experiments to finish. */
export const MAX_WAIT_SECONDS = 600;

export const RULE =
  '`no_regression`: fails when the metric is worse beyond chance. `not_worse`: passes when it is not worse by the margin or more, fails ' +
  'when it is worse beyond chance, else is undecided. `at_least`: compares the mean of the candidate with `value`. `report`: gates nothing.';
export const METRIC_NAME =
  'Name of a score; or `cost`, `duration_ms`, `input_tokens` or `output_tokens` of the traces of results; or `error`, the share of results with one; or `judge:<id of a judge>`, its verdicts or scores; or `feedback:thumbs_up`, the share of people who liked a result.';
export const MARGIN =
  'How much worse is still good enough: in the unit of the metric, or as a share of the baseline, such as `"10%"`.';
export const VALUE =
  'For `at_least`: what the mean of the candidate must reach; where lower is better, must not exceed.';
const DIRECTION =
  'Whether higher or lower is better. Default: what the definition of the score says, else higher; lower for figures and errors.';
export const CONFIDENCE = 'Confidence of intervals.';
export const SLICES =
  'Columns of the dataset, such as `data.language`: metrics are shown for each of their most frequent values, too.';
export const ERRORS =
  'How results with an error count in scores: as the worst value (of numbers: the lowest that the definition allows, or else that was seen; where lower is better, the highest), or not at all.';

export const MetricInput = Type.Object(
  {
    name: { ...ScoreName, description: METRIC_NAME },
    rule: oneOf(RULES, RULE),
    margin: optional(
      Type.Union([Type.Number({ minimum: 0 }), Type.String({ pattern: '^[0-9]{1,6}(\\.[0-9]{1,6})?%$' })], {
        description: `For \`not_worse\`: ${MARGIN}`,
      }),
    ),
    value: optional(number(VALUE)),
    direction: optional(oneOf(DIRECTIONS, DIRECTION)),
  },
  { $id: 'ComparisonMetricInput', description: 'A metric, and what it must be.' },
);
export type MetricInput = Static<typeof MetricInput>;

export const ArmTag = Type.String({ minLength: 1, maxLength: 64, description: 'Tag that points at the experiment.' });

const experiment = (what: string) =>
  Type.Union(
    [
      uuid('Id of an experiment.'),
      Type.Object(
        {
          tag: ArmTag,
          dataset: optional(
            Type.String({
              minLength: 1,
              maxLength: 128,
              description: 'Name or id of its dataset. Default: that of the other experiment.',
            }),
          ),
        },
        { description: 'The experiment that a tag points at.' },
      ),
    ],
    { description: what },
  );

export const CANDIDATE = 'The experiment that may be worse.';
export const BASELINE = 'The experiment that it is compared with.';

export const ComparisonInput = Type.Object(
  {
    candidate: experiment(CANDIDATE),
    baseline: experiment(BASELINE),
    metrics: Type.Array(MetricInput, { minItems: 1, maxItems: MAX_METRICS, description: 'The metrics.' }),
    confidence: optional(Type.Number({ minimum: 0.5, maximum: 0.999, description: `${CONFIDENCE} Default: 0.95.` })),
    slices: optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 205 }), {
        maxItems: MAX_SLICES,
        uniqueItems: true,
        description: SLICES,
      }),
    ),
    errors: optional(oneOf(ERROR_WAYS, `${ERRORS} Default: \`count_as_fail\`.`)),
    wait_seconds: optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_WAIT_SECONDS,
        description:
          'How long to wait until both experiments are finished, and judges have evaluated what is queued of them. Default: 0.',
      }),
    ),
  },
  { $id: 'ComparisonInput', description: 'Two experiments to compare, and how.' },
);
export type ComparisonInput = Static<typeof ComparisonInput>;
