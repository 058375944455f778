import {
  LONGEST_VALUE,
  MAX_GROUPS,
  PERCENTILES,
  tokenFields,
  type FacetQuery,
  type Measure,
  type Property,
  type Windows,
} from '../model/list/statistics.js';
import type { Buckets } from '../model/list/buckets.js';
import type { Micros } from '../../timestamp.js';
import { empty, identifier, join, number, numbers, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { objectRows, rowsWithTexts, type Columns, type Objects, type ScoreColumns } from './properties.js';
import type { ListSource } from './sources.js';

/** The number of a group: from 1 on in their order, or one of these. */
export const REST_GROUP = 0;
export const ALL_GROUPS = 255;
/** The number of a bucket: from 1 on in their order, or one of these. */
export const ALL_BUCKETS = 0;
const NO_BUCKET = 65_535;

/** The text of a value as it is stored; null: objects without one. */
type Text = string | null;

/** A row of {@link largestGroups}, or of {@link timeRange}. */
export interface Surveyed {
  readonly shown?: Text;
  readonly too_long?: 0 | 1;
  /** Microseconds: of the group, and of all. */
  readonly latest?: string | null;
  readonly first: string | null;
  readonly last: string | null;
}

const startOf = ({ source }: Objects) => sql`toUnixTimestamp64Micro(${source.columns['started_at'] ?? empty})`;

/** When the objects started. */
export function timeRange(objects: Objects): Sql {
  return sql`SELECT toString(minOrNull(at)) AS first, toString(maxOrNull(at)) AS last FROM (${objectRows(objects, { at: startOf(objects) })})`;
}

/** A value as whoever looks for it knows it. */
const plain = ({ by }: Property) => (by === 'score' ? sql`substring(text, 2)` : sql`text`);

/** Texts of clients may be of any length: those that are too long come last, and empty. */
const shownOf = (property: Property) =>
  sql`toUInt8(ifNull(length(${plain(property)}), 0) > ${number(LONGEST_VALUE)}) AS too_long, if(too_long, '', text) AS shown`;

/** The values that most objects have, with when the latest of each started, and when all objects did. */
export function largestGroups(objects: Objects, property: Property): Sql {
  return sql`SELECT ${shownOf(property)}, toString(max(at)) AS latest, toString(min(min(at)) OVER ()) AS first, toString(max(max(at)) OVER ()) AS last
FROM (SELECT arrayJoin(texts) AS text, at FROM (${rowsWithTexts(objects, property, { at: startOf(objects) })}))
GROUP BY text ORDER BY too_long, count() DESC, text LIMIT ${number(MAX_GROUPS)}`;
}

/** A row of {@link figuresOf}. */
export interface FigureRow {
  readonly group_number: number;
  readonly bucket_number: number;
  readonly objects: number | string;
  readonly errors?: number | string;
  readonly costs?: string | null;
  readonly durations?: readonly (number | null)[];
  readonly [tokens: `tokens_${number}`]: number | string | null;
  readonly [scores: `scores_${number}`]: readonly (number | null)[];
}

export interface Grouped {
  readonly property: Property;
  readonly texts: readonly Text[];
}

export interface FiguresAsked {
  readonly measures: readonly Measure[];
  /** Names of scores. */
  readonly scores: readonly string[];
  readonly buckets: Buckets | null;
  readonly grouped: Grouped | null;
}

/** Figures of the objects in each of some windows, as buckets, which may overlap; those in none are in {@link NO_BUCKET}. */
export function windowFiguresOf(
  objects: Objects,
  { measures, scores, windows }: Pick<FiguresAsked, 'measures' | 'scores'> & { readonly windows: Windows },
): Sql {
  const fields = measured(objects.source, measures);
  const columns: Columns = {
    bucket_numbers: windowNumbers(startOf(objects), windows),
    ...Object.fromEntries(fields.map(({ column }) => column)),
  };
  const parts = [COUNT, ...fields, ...scores.map((_, index) => scorePart(`scores_${index}`))];
  const selected = (of: 'partly' | 'wholly') =>
    join(
      parts.map((part) => part[of]),
      ', ',
    );
  return sql`SELECT toUInt8(${number(ALL_GROUPS)}) AS group_number, bucket_number, ${selected('wholly')}
FROM (
  SELECT arrayJoin(bucket_numbers) AS bucket_number, ${selected('partly')}
  FROM (${objectRows(objects, columns, scoredBy(scores))})
  GROUP BY bucket_number
)
GROUP BY bucket_number`;
}

/**
 * Figures of the objects that each of some conditions holds for, as groups in the order of the conditions. Those that start behind the
 * window are in {@link NO_BUCKET}; none starts before it.
 */
export function figuresTogether(
  objects: Objects,
  { measures, found, end }: Pick<FiguresAsked, 'measures'> & { readonly found: readonly Sql[]; readonly end: Micros },
): Sql {
  const fields = measured(objects.source, measures);
  const numbered = found.map((condition, index) => sql`if(${condition}, ${number(index + 1)}, 0)`);
  const columns: Columns = {
    group_numbers: sql`arrayFilter(each -> each > 0, [${join(numbered, ', ')}])`,
    bucket_number: sql`toUInt16(if(${startOf(objects)} <= ${number(end)}, 1, ${number(NO_BUCKET)}))`,
    ...Object.fromEntries(fields.map(({ column }) => column)),
  };
  const parts = [COUNT, ...fields];
  const selected = (of: 'partly' | 'wholly') =>
    join(
      parts.map((part) => part[of]),
      ', ',
    );
  return sql`SELECT group_number, bucket_number, ${selected('wholly')}
FROM (
  SELECT arrayJoin(group_numbers) AS group_number, bucket_number, ${selected('partly')}
  FROM (${objectRows(objects, columns)})
  GROUP BY group_number, bucket_number
)
GROUP BY group_number, bucket_number`;
}

/** The numbers of the windows that hold a start. */
function windowNumbers(at: Sql, { end, step, length, count }: Windows): Sql {
  const past = sql`(assumeNotNull(${at}) - ${number(end)})`;
  // The first window that ends at the start or later, and the first that begins there or later.
  const stepsUp = (time: Sql) => sql`intDiv(greatest(${time} + ${number(step - 1)}, 0), ${number(step)})`;
  const [first, behind] = [stepsUp(past), stepsUp(sql`${past} + ${number(length)}`)];
  const held = sql`range(toUInt32(least(${first}, ${number(count)})), toUInt32(least(${behind}, ${number(count)})))`;
  const numbered = sql`arrayMap(place -> toUInt16(place + 1), ${held})`;
  const none = sql`[toUInt16(${number(NO_BUCKET)})]`;
  return sql`if(isNull(${at}) OR empty(${held}), ${none}, ${numbered})`;
}

/** The number of the score, of each name. */
const scoredBy = (scores: readonly string[]): ScoreColumns =>
  Object.fromEntries(
    scores.map((name, index) => [`scores_${index}_of`, { name, of: (score: Sql) => sql`${score}.number` }]),
  );

/** Figures of all objects and of each group, in all and by bucket. */
export function figuresOf(objects: Objects, { measures, scores, buckets, grouped }: FiguresAsked): Sql {
  const fields = measured(objects.source, measures);
  const columns: Columns = {
    bucket_number: bucketNumber(startOf(objects), buckets),
    ...Object.fromEntries(fields.map(({ column }) => column)),
  };
  const scored = scoredBy(scores);
  const parts = [...fields, ...scores.map((_, index) => scorePart(`scores_${index}`))];
  // Whether there is anything is always asked.
  const selected = (of: 'partly' | 'wholly') =>
    join(
      [COUNT, ...parts].map((part) => part[of]),
      ', ',
    );
  const rows =
    grouped === null ? objectRows(objects, columns, scored) : rowsWithTexts(objects, grouped.property, columns, scored);
  const groups = grouped === null ? sql`materialize(toUInt8(${number(ALL_GROUPS)}))` : groupNumbers(grouped);
  return sql`SELECT group_number, bucket_number, ${selected('wholly')}
FROM (
  SELECT ${groups} AS group_number, bucket_number, ${selected('partly')}
  FROM (${rows})
  GROUP BY group_number, bucket_number
)
GROUP BY GROUPING SETS ((group_number), (group_number, bucket_number))`;
}

/** One figure: its aggregate over the finest groups, and over several of these. */
interface Part {
  readonly partly: Sql;
  readonly wholly: Sql;
}

/** A figure of a field, with the column that it needs of objects. */
interface FieldPart extends Part {
  readonly column: readonly [name: string, value: Sql];
}

const COUNT = { partly: sql`count() AS objects_part`, wholly: sql`sum(objects_part) AS objects` };
const LEVELS = numbers(Object.values(PERCENTILES));

function measured({ list, columns }: ListSource, measures: readonly Measure[]): FieldPart[] {
  const sum = (name: string, field: string, as: (sum: Sql) => Sql = (sum) => sum): FieldPart => {
    const [of, part] = [identifier(`${name}_of`), identifier(`${name}_part`)];
    return {
      column: [`${name}_of`, columns[field] ?? empty],
      partly: sql`sum(${of}) AS ${part}`,
      wholly: sql`${as(sql`sum(${part})`)} AS ${identifier(name)}`,
    };
  };
  const parts: Readonly<Record<Measure, () => FieldPart[]>> = {
    count: () => [],
    errors: () => [sum('errors', 'has_error')],
    // A text keeps every decimal.
    cost: () => [sum('costs', 'cost', (costs) => sql`toString(${costs})`)],
    duration: () => [percentiles(columns['duration_ms'] ?? columns['duration'] ?? empty)],
    tokens: () => tokenFields(list).map(([, field], index) => sum(`tokens_${index}`, field)),
  };
  return measures.flatMap((measure) => parts[measure]());
}

/** Of no values at all, ClickHouse would say that each percentile is 0. */
function percentiles(duration: Sql): FieldPart {
  return {
    column: ['durations_of', duration],
    partly: sql`quantilesExactState(${LEVELS})(durations_of) AS durations_part, count(durations_of) AS durations_known`,
    wholly: sql`if(sum(durations_known) = 0, [], quantilesExactMerge(${LEVELS})(durations_part)) AS durations`,
  };
}

/** The figures of a score: count, mean, least, most and percentiles. The column `<name>_of` has its numbers. */
function scorePart(name: string): Part {
  const [of, known, sum, least, most, states] = ['of', 'known', 'sum', 'least', 'most', 'states'].map((part) =>
    identifier(`${name}_${part}`),
  ) as [Sql, Sql, Sql, Sql, Sql, Sql];
  return {
    partly: sql`count(${of}) AS ${known}, sumKahan(${of}) AS ${sum}, min(${of}) AS ${least}, max(${of}) AS ${most},
    quantilesExactState(${LEVELS})(${of}) AS ${states}`,
    wholly: sql`if(sum(${known}) = 0, [], arrayConcat([toFloat64(sum(${known})), sumKahan(${sum}) / sum(${known}), min(${least}), max(${most})],
    quantilesExactMerge(${LEVELS})(${states}))) AS ${identifier(name)}`,
  };
}

/** The numbers of the groups that an object belongs to, and of all. */
function groupNumbers({ texts }: Grouped): Sql {
  const known = value(
    texts.filter((text) => text !== null),
    'Array(String)',
  );
  const none = texts.indexOf(null);
  // Null comes last among equals, not among all.
  const place = sql`indexOf(${known}, assumeNotNull(text))`;
  const shifted = none < 0 ? place : sql`(${place} + (${place} > ${number(none)}))`;
  const group = sql`toUInt8(if(isNull(text), ${number(none + 1)}, ${shifted}))`;
  return sql`arrayJoin(arrayPushFront(arrayDistinct(arrayMap(text -> ${group}, texts)), toUInt8(${number(ALL_GROUPS)})))`;
}

/** The number of the bucket in which an object started: neighbours of equal length are told apart by a division. */
function bucketNumber(at: Sql, buckets: Buckets | null): Sql {
  if (buckets === null) return sql`toUInt16(${number(NO_BUCKET)})`;
  const { edges } = buckets;
  const runs: { first: number; from: Micros; to: Micros; length: Micros }[] = [];
  edges.slice(1).forEach((to, index) => {
    const from = edges[index] ?? to;
    const last = runs.at(-1);
    if (last?.length === to - from) last.to = to;
    else runs.push({ first: index + 1, from, to, length: to - from });
  });
  const branches = runs.map(
    ({ first, from, to, length }) =>
      sql`${at} < ${number(to)}, ${number(first)} + intDiv(${at} - ${number(from)}, ${number(length)})`,
  );
  const outside = sql`isNull(${at}) OR ${at} < ${number(edges[0] ?? 0)}, ${number(NO_BUCKET)}`;
  return sql`toUInt16(assumeNotNull(multiIf(${join([outside, ...branches], ', ')}, ${number(NO_BUCKET)})))`;
}

/** A row of {@link valuesOf}. */
export interface ValueRow {
  readonly shown: string;
  readonly too_long: 0 | 1;
  readonly objects: number | string;
  readonly values: number | string;
}

/** The values that most objects have, and how many values there are. */
export function valuesOf(objects: Objects, { of, prefix, limit }: Omit<FacetQuery, 'objects'>): Sql {
  const begins =
    prefix === '' ? empty : sql` AND startsWith(lowerUTF8(${plain(of)}), lowerUTF8(${value(prefix, 'String')}))`;
  return sql`SELECT ${shownOf(of)}, count() AS objects, count() OVER () AS values
FROM (SELECT arrayJoin(texts) AS text FROM (${rowsWithTexts(objects, of)}))
WHERE isNotNull(text)${begins}
GROUP BY text ORDER BY too_long, objects DESC, text LIMIT ${value(limit, 'UInt64')}`;
}
