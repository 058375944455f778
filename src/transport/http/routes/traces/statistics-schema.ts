import { Type } from '@sinclair/typebox';
import { LONGEST_VALUE, MOST_GROUPS } from '../../../../domain/list/statistics.js';
import { byKey, count, number, orNull, time } from '../../../../domain/schema/parts.js';

const figures = {
  count: Type.Optional(count('How many.')),
  error_count: Type.Optional(count('How many of them have an error (`has_error`).')),
  cost: Type.Optional(
    orNull(number('Sum of their costs in US dollars, with every decimal; null when none of them has a known cost.')),
  ),
  duration_ms: Type.Optional(
    Type.Object(
      {
        p50: orNull(number('The median.')),
        p95: orNull(number('The 95th percentile.')),
        p99: orNull(number('The 99th percentile.')),
      },
      {
        description:
          'Percentiles of the durations that are known, in milliseconds: of n of them in ascending order, the one that ' +
          '⌊p·n⌋ stand before. Exact; null when none is known.',
      },
    ),
  ),
  tokens: Type.Optional(
    byKey(orNull(number('Their sum; null when none of them knows it.')), { description: 'Tokens, by class.' }),
  ),
};

const Totals = Type.Object(figures, { $id: 'Figures', description: 'The measures that were asked for.' });
const Buckets = Type.Array(
  Type.Object(
    { start: time('When the bucket begins.'), ...figures },
    { $id: 'FiguresBucket', description: 'The measures of what started in a piece of time.' },
  ),
  { description: 'Without gaps. What has no start is in no bucket, but in the totals.' },
);

export const StatisticsRead = Type.Object(
  {
    from: orNull(time('The lower bound that was asked for, else the first start; null: nothing was found.')),
    to: orNull(time('The upper bound that was asked for, else the last start; null: nothing was found.')),
    bucket_seconds: orNull(
      Type.Integer({ description: 'Length of the buckets on an ordinary day; null when there are none.' }),
    ),
    totals: Totals,
    buckets: Buckets,
    groups: Type.Array(
      Type.Object({
        value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
          description: 'The value that they share; null: they have none.',
        }),
        totals: Totals,
        buckets: Buckets,
      }),
      { description: `The ${MOST_GROUPS} largest groups by count; empty unless \`group_by\` is asked for.` },
    ),
    rest: orNull(
      Type.Object(
        { totals: Totals, buckets: Buckets },
        {
          description: `What has other values than those of the groups, or one of more than ${LONGEST_VALUE} bytes; null: nothing has.`,
        },
      ),
    ),
  },
  { $id: 'Statistics', description: 'Figures of all objects of a list that match.' },
);

export const FacetsRead = Type.Object(
  {
    field: Type.String({ description: 'The field that was asked for.' }),
    from: orNull(time('Only what started then or later is counted; null: no such bound.')),
    to: orNull(time('Only what started then or earlier is counted; null: no such bound.')),
    values: Type.Array(
      Type.Object({
        value: Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
          description: 'A value, or the key of a tag.',
        }),
        count: count('How many objects have it.'),
      }),
      { description: `By count, the most frequent first, without those of more than ${LONGEST_VALUE} bytes.` },
    ),
    total: count('How many values there are, of which `values` are the first.'),
  },
  { $id: 'Facets', description: 'Values of a field, with how many objects have each.' },
);
