import { Type, type Static } from '@sinclair/typebox';
import { count, number, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { DIRECTIONS, ERROR_WAYS, MEASURES, RULES, TESTS, VERDICTS } from './comparison.js';
import { BASELINE, CANDIDATE, CONFIDENCE, ERRORS, MARGIN, METRIC_NAME, RULE, SLICES, VALUE } from './input-schema.js';

const arm = (description: string) =>
  Type.Object(
    {
      id: uuid('Id of the experiment.'),
      name: Type.String({ description: 'Name of the experiment.' }),
      dataset_version: Type.Integer({ minimum: 1, description: 'Number of the version of the dataset.' }),
      tag: orNull(Type.String({ description: 'Tag that the request named it by; null: its id.' })),
    },
    { description },
  );

const listed = {
  id: uuid('Id of the comparison.'),
  dataset: Type.Object(
    { id: uuid('Id of the dataset.'), name: Type.String({ description: 'Its name at the time.' }) },
    { description: 'The dataset of both; of the candidate, if they differ.' },
  ),
  candidate: arm(CANDIDATE),
  baseline: arm(BASELINE),
  verdict: oneOf(
    VERDICTS,
    '`failed` if a metric failed, else `undecided` if one is, else `passed`; `incomparable`: nothing can be compared.',
  ),
  created_at: time('When it was made.'),
  created_by: uuid('Id of the user who made it.'),
};

export const ListedComparisonRead = Type.Object(listed, {
  $id: 'ListedComparison',
  description: 'A comparison in a list.',
});

const interval = (of: string) =>
  orNull(
    Type.Object(
      { low: number('Lower end.'), high: number('Upper end.') },
      { description: `Interval of the ${of} with the confidence; null: none.` },
    ),
  );
const ofRows = (description: string) => orNull(number(`${description} Null: not of such values.`));

const armFigures = (description: string) =>
  Type.Object(
    {
      mean: ofRows('Mean over rows; of booleans, the share that is true.'),
      interval: interval('mean'),
      standard_error: ofRows('Standard error of the mean.'),
      sum: ofRows('Sum over rows, for figures.'),
      median: ofRows('Median of rows, for figures.'),
      p95: ofRows('95th percentile of rows, for figures.'),
      categories: orNull(
        Type.Array(
          Type.Object(
            { category: Type.String({ description: 'The category.' }), rows: count('Rows with it.') },
            { description: 'A category.' },
          ),
          { description: 'Categories, the most frequent first; null: no categories.' },
        ),
      ),
    },
    { description },
  );

const difference = orNull(
  Type.Object(
    {
      value: number('The difference.'),
      interval: interval('difference'),
      relative: Type.Boolean({ description: 'Whether it is a share of the sum of the baseline, as for figures.' }),
    },
    { description: 'Candidate minus baseline; null: not defined.' },
  ),
);
const changed = {
  wins: count('Rows where the candidate is better.'),
  losses: count('Rows where it is worse.'),
  ties: count('Rows where both are equal.'),
};

const slice = Type.Object(
  {
    column: Type.String({ description: 'The column.' }),
    value: Type.String({ description: 'Its value.' }),
    rows: count('Rows compared.'),
    candidate: ofRows('Mean of the candidate.'),
    baseline: ofRows('Mean of the baseline.'),
    difference,
    ...changed,
  },
  { description: 'The rows with one value of a column. They gate nothing.' },
);

const judge = orNull(
  Type.Object(
    {
      id: uuid('Id of the judge.'),
      name: Type.String({ description: 'Its name at the time.' }),
      judge_version: Type.String({ description: 'The version that evaluated both experiments.' }),
      version: orNull(
        Type.String({ description: 'That version in the calibration report of the judge, such as `v2`.' }),
      ),
      corrections: count('Reviews of evaluations by that version that the judge had not been shown before.'),
      agreed: count('How many of them say that the judge was right.'),
      kappa: orNull(number("Cohen's κ of judge and people for that version; null: too few reviews.")),
      kappa_interval: orNull(
        Type.Object(
          { low: number('Lower end.'), high: number('Upper end.') },
          { description: 'Large-sample interval of κ, 95 %; null: none.' },
        ),
      ),
    },
    {
      description:
        "The judge whose verdicts are compared, and how far people agree with it; null: the metric is not a judge's.",
    },
  ),
);

const noise = orNull(
  Type.Object(
    {
      comparison_id: uuid('Id of the comparison.'),
      low: number('Lower end of its interval.'),
      high: number('Upper end of its interval.'),
    },
    {
      description:
        'How far the metric differed in the newest comparison on this dataset of two experiments with the same subject and ' +
        'parameters: a difference within it may be noise. Null: no such comparison has this metric.',
    },
  ),
);

const metric = Type.Object(
  {
    name: Type.String({ description: METRIC_NAME }),
    rule: oneOf(RULES, RULE),
    margin: orNull(
      Type.Object(
        {
          absolute: Type.Optional(number('In the unit of the metric.')),
          share: Type.Optional(number('Of the baseline.')),
        },
        { description: MARGIN },
      ),
    ),
    value: orNull(number(VALUE)),
    direction: oneOf(DIRECTIONS, 'Whether higher or lower is better.'),
    measure: oneOf(MEASURES, 'What its values are: `sum` for figures of traces, else the kind of the score.'),
    verdict: oneOf(['passed', 'failed', 'undecided', 'reported'], 'The verdict of its rule.'),
    because: Type.String({ description: 'Why, in words.' }),
    rows: count('Rows with a value in both experiments.'),
    left_out: Type.Object(
      {
        no_value: count('Rows left out because an experiment has no value.'),
        error: count('Rows left out because of an error.'),
        too_large: Type.Optional(
          count('Rows left out because a value is beyond 1e100. A gated metric is undecided then.'),
        ),
      },
      { description: 'Rows of the comparison that this metric leaves out.' },
    ),
    candidate: armFigures('The candidate.'),
    baseline: armFigures('The baseline.'),
    difference,
    ...changed,
    test: orNull(oneOf(TESTS, 'The test of the difference.')),
    p: orNull(number('How likely so large a difference is by chance, by the test.')),
    adjusted_p: orNull(
      number('The same, adjusted for how many metrics are gated (Holm); null: not gated by its difference.'),
    ),
    margin_of_difference: orNull(number('The margin in the unit of the difference.')),
    detectable: orNull(number('The smallest true difference that these rows would show in four of five cases.')),
    rows_for_margin: orNull(count('How many rows would show the margin in four of five cases.')),
    moves: orNull(
      Type.Array(
        Type.Object(
          {
            from: Type.String({ description: 'Category in the baseline.' }),
            to: Type.String({ description: 'Category in the candidate.' }),
            rows: count('Rows that moved.'),
          },
          { description: 'A move.' },
        ),
        { description: 'Rows whose category changed, the most frequent first.' },
      ),
    ),
    slices: Type.Array(slice, { description: 'The same by slice.' }),
    judge: Type.Optional(judge),
    noise: Type.Optional(noise),
  },
  { $id: 'ComparisonMetric', description: 'What a comparison found of a metric.' },
);

const cost = (of: string) => orNull(number(`Cost in US dollars of ${of}; null: unknown, or none.`));

export const ComparisonRead = Type.Object(
  {
    ...listed,
    because: Type.Array(Type.String(), { description: 'Why, in sentences.' }),
    confidence: number(CONFIDENCE),
    slices: Type.Array(Type.String(), { description: SLICES }),
    errors: oneOf(ERROR_WAYS, ERRORS),
    is_repeat: Type.Boolean({
      description: 'Whether both experiments have the same subject and parameters, so that their difference is noise.',
    }),
    rows: count('Rows compared: those with results in both experiments.'),
    left_out: Type.Object(
      {
        missing_in_candidate: count('Rows with no result in the candidate.'),
        missing_in_baseline: count('Rows with no result in the baseline.'),
        missing_in_both: count('Rows with no result at all.'),
        content_differs: count('Rows whose content differs between the two versions of the dataset.'),
        not_in_both_versions: count('Rows that only one of the two versions has.'),
        erased: count('Rows whose content was erased.'),
      },
      { description: 'Rows of the dataset that are not compared, by why.' },
    ),
    metrics: Type.Array(metric, { description: 'The metrics, in their order.' }),
    spent: Type.Optional(
      Type.Object(
        {
          candidate: cost('the traces of its results'),
          baseline: cost('the traces of its results'),
          judges: cost('the calls by which the judges among the metrics evaluated both, as far as they are stored'),
        },
        { description: 'What both experiments and their judges cost; absent if nothing was compared.' },
      ),
    ),
  },
  { $id: 'Comparison', description: 'A comparison of two experiments.' },
);

export type ComparisonRead = Static<typeof ComparisonRead>;
