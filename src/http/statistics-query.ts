import { Type } from '@sinclair/typebox';
import { sessionList, spanList, traceList, type ListDefinition } from '../engine/traces/model/list/definitions.js';
import {
  latelyUnlessBounded,
  MAX_MEASURES,
  measuresOf,
  type FacetQuery,
  type Property,
  type StatisticsQuery,
} from '../engine/traces/model/list/statistics.js';
import { oneOf } from '../engine/schema/parts.js';
import { MAX_BUCKETS, timeZoneNamed } from '../engine/traces/model/list/buckets.js';
import { queryAbout } from './list-query.js';
import { csv, readAs, TAG_PREFIX } from './parameter.js';
import type { QueryDefinition } from './query.js';
import { SCORE, scoreNamed } from './score-parameters.js';

/** The query of the statistics of a list. */
function statisticsQueryOf(list: ListDefinition): QueryDefinition<StatisticsQuery> {
  const all = measuresOf(list);
  const own = {
    measures: Type.Optional(
      csv(measureOf(all), {
        maxItems: MAX_MEASURES,
        description:
          `What is computed and answered, separated by commas: some of ${all.join(', ')}, and \`scores.<name>\` for the newest ` +
          `scores of a name; at most ${MAX_MEASURES}. Default: all but scores.`,
      }),
    ),
    bucket: Type.Optional(BUCKET),
    time_zone: Type.Optional(TIME_ZONE),
    group_by: Type.Optional(
      propertyOf(
        list,
        [],
        `What to group by: ${named(list)}. The eight largest groups by count are shown, and the rest as one.`,
      ),
    ),
  };
  return queryAbout(list, own, (objects, { measures, bucket = null, time_zone = 'UTC', group_by = null }) => ({
    objects,
    measures: all.filter((measure) => measures?.includes(measure) ?? true),
    scores: [...new Set(measures?.flatMap((measure) => scoreNamed(measure) ?? []))],
    bucketSeconds: bucket,
    timeZone: time_zone,
    groupBy: group_by,
  }));
}

const measureOf = (measures: readonly string[]) =>
  Type.Unsafe<string>({
    anyOf: [
      { ...oneOf(measures, 'A measure.'), 'x-must': `be one of ${measures.join(', ')}, or scores.<name>` },
      SCORE,
    ],
  });

const MAX_VALUES = 200;
const DEFAULT_VALUES = 50;

/** The query of the facets of a list. */
export function facetQueryOf(list: ListDefinition): QueryDefinition<FacetQuery> {
  const own = {
    field: propertyOf(
      list,
      ['tags'],
      `What has the values: ${named(list)}; or \`tags\`, whose values are the keys of tags.`,
    ),
    prefix: Type.String({
      maxLength: 1000,
      default: '',
      description: 'Only values that begin with this text, whatever its case.',
    }),
    limit: Type.Integer({
      minimum: 1,
      maximum: MAX_VALUES,
      default: DEFAULT_VALUES,
      description: 'Most values in the answer.',
    }),
  };
  return queryAbout(list, own, (objects, { field, prefix, limit }) => ({
    objects: latelyUnlessBounded(list, objects, Date.now() * 1000),
    of: field,
    prefix,
    limit,
  }));
}

const named = ({ groups }: ListDefinition) =>
  `a field (${groups.join(', ')}), \`tags.<key>\` for the values of a tag, or \`scores.<name>\` for those of the newest score of a name`;

/** Longer than any key that a URL has room for would make sense. */
const MAX_KEY = 10_000;

/** A field of a list by whose values objects are told apart, or a tag. */
function propertyOf(list: ListDefinition, others: readonly string[], description: string) {
  const names = [...list.groups, ...others];
  const schema = {
    anyOf: [
      { type: 'string', enum: names },
      { type: 'string', pattern: '^tags\\.', maxLength: MAX_KEY, description: 'The tag of a key.' },
      SCORE,
    ],
    description,
  };
  return readAs<Property>(schema, `must be one of ${names.join(', ')}, tags.<key> or scores.<name>`, (text) => {
    const name = scoreNamed(text);
    if (name !== undefined) return { by: 'score', name };
    if (text.startsWith(TAG_PREFIX) && text.length <= MAX_KEY) return { by: 'tag', key: text.slice(TAG_PREFIX.length) };
    if (!names.includes(text)) return undefined;
    return text === 'tags' ? { by: 'tag keys' } : { by: 'field', field: text };
  });
}

const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400, w: 7 * 86_400 };
const MAX_SECONDS = 3660 * 86_400;

const BUCKET = readAs<number>(
  {
    type: 'string',
    pattern: '^[0-9]{1,9}[smhdw]?$',
    description:
      'Length of the buckets of time, in seconds or as `30s`, `5m`, `1h`, `1d` or `1w`. They begin at its multiples on the ' +
      `clocks of \`time_zone\`, weeks on Mondays. Default: the shortest of some usual lengths with at most 120 buckets. More than ${MAX_BUCKETS} are ` +
      'refused.',
  },
  'must be a length of 1 second to 3660 days: whole seconds, or a value such as 30s, 5m, 1h, 1d or 1w',
  (text) => {
    const [, count = '', unit = ''] = /^(\d{1,9})([smhdw]?)$/.exec(text) ?? [];
    const seconds = Number(count) * (UNITS[unit] ?? 0);
    return seconds >= 1 && seconds <= MAX_SECONDS ? seconds : undefined;
  },
);

const TIME_ZONE = readAs<string>(
  {
    type: 'string',
    maxLength: 64,
    description:
      'IANA time zone, such as `Europe/Berlin`, whose hours, days and weeks the buckets follow. Default: UTC.',
  },
  'must be an IANA time zone name, such as Europe/Berlin or UTC',
  timeZoneNamed,
);

/** The queries of the statistics of the lists. */
export const statisticsQueries: Readonly<Record<ListDefinition['name'], QueryDefinition<StatisticsQuery>>> = {
  spans: statisticsQueryOf(spanList),
  traces: statisticsQueryOf(traceList),
  sessions: statisticsQueryOf(sessionList),
};
