import { Type, type ObjectOptions, type Static, type TObject, type TProperties } from '@sinclair/typebox';
import type { SCORE_PREFIX } from '../../../engine/traces/model/list/query.js';
import { LONGEST_VALUE, MAX_GROUPS } from '../../../engine/traces/model/list/statistics.js';
import { byKey, count, number, orNull, time } from '../../../engine/schema/parts.js';

const percentiles = {
  p50: orNull(number('The median.')),
  p95: orNull(number('The 95th percentile.')),
  p99: orNull(number('The 99th percentile.')),
};

const ScoreFigures = Type.Object(
  {
    count: count('Number of objects with such a score.'),
    mean: orNull(number('Their mean, in double precision; of booleans, the share of true.')),
    min: orNull(number('The lowest.')),
    max: orNull(number('The highest.')),
    ...percentiles,
  },
  {
    $id: 'ScoreFigures',
    description:
      'Figures of the newest scores of a name that are numbers, or true (1) or false (0); null if there are none.',
  },
);

/** The schema of an object that has figures of scores, by `scores.<name>`, beside other members. */
const withScores = <P extends TProperties>(properties: P, options: ObjectOptions) =>
  Type.Unsafe<
    Static<TObject<P>> & { readonly [Score in `${typeof SCORE_PREFIX}${string}`]?: Static<typeof ScoreFigures> }
  >({
    ...Type.Object(properties, options),
    patternProperties: { '^scores\\.': ScoreFigures },
  });

const figures = {
  count: Type.Optional(count('How many.')),
  error_count: Type.Optional(count('Number of objects with an error (`has_error`).')),
  cost: Type.Optional(
    orNull(number('Sum of their costs in US dollars, with every decimal; null if none of them has a known cost.')),
  ),
  duration_ms: Type.Optional(
    Type.Object(percentiles, {
      description:
        'Percentiles of the known durations, in milliseconds: of n of them in ascending order, the one that ⌊p·n⌋ ' +
        'stand before. Exact; null if none is known.',
    }),
  ),
  tokens: Type.Optional(byKey(orNull(number('Sum; null if no value is known.')), { description: 'Tokens, by class.' })),
};

const Totals = withScores(figures, { $id: 'Figures', description: 'The requested measures.' });
const Buckets = Type.Array(
  withScores(
    { start: time('Start of the bucket.'), ...figures },
    { $id: 'FiguresBucket', description: 'The measures of objects that started in a period.' },
  ),
  { description: 'Without gaps. Objects without a start are in no bucket, but in the totals.' },
);

export const StatisticsRead = Type.Object(
  {
    from: orNull(time('The requested lower bound, else the first start; null: nothing was found.')),
    to: orNull(time('The requested upper bound, else the last start; null: nothing was found.')),
    bucket_seconds: orNull(
      Type.Integer({ description: 'Length of the buckets on an ordinary day; null if there are none.' }),
    ),
    totals: Totals,
    buckets: Buckets,
    groups: Type.Array(
      Type.Object({
        value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
          description: 'Their common value; null: they have none.',
        }),
        last_started_at: orNull(time('Start of the latest of them; null: none has a start.')),
        totals: Totals,
        buckets: Buckets,
      }),
      { description: `The ${MAX_GROUPS} largest groups by count; empty without \`group_by\`.` },
    ),
    rest: orNull(
      Type.Object(
        { totals: Totals, buckets: Buckets },
        {
          description: `Objects with values other than those of the groups, or with one of more than ${LONGEST_VALUE} bytes; null: there are none.`,
        },
      ),
    ),
  },
  { $id: 'Statistics', description: 'Figures of all objects that match.' },
);

export const FacetsRead = Type.Object(
  {
    field: Type.String({ description: 'The requested field.' }),
    from: orNull(time('Only objects that started then or later count; null: no such bound.')),
    to: orNull(time('Only objects that started then or earlier count; null: no such bound.')),
    values: Type.Array(
      Type.Object({
        value: Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
          description: 'A value, or the key of a tag.',
        }),
        count: count('Number of objects with it.'),
      }),
      { description: `By count, most frequent first, without values of more than ${LONGEST_VALUE} bytes.` },
    ),
    total: count('Number of values, of which `values` are the first.'),
  },
  { $id: 'Facets', description: 'Values of a field, with the number of objects for each.' },
);
