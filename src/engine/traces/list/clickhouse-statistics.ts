import type { ListDefinition } from '../model/list/definitions.js';
import {
  PERCENTILES,
  startingFrom,
  startsAskedFor,
  tokenFields,
  type Answer,
  type Extent,
  type FacetQuery,
  type Facets,
  type Figures,
  type ListStatistics,
  type Percentiles,
  type Property,
  type PropertyValue,
  type ScoreFigures,
  type Series,
  type Statistics,
  type StatisticsQuery,
  type TotalsQuery,
  type TogetherFigures,
  type WindowFigures,
  type WindowsQuery,
  type WindowTogether,
} from '../model/list/statistics.js';
import { defaultQuery, SCORE_PREFIX, type ListQuery } from '../model/list/query.js';
import { bucketsBetween } from '../model/list/buckets.js';
import type { Sql } from '../clickhouse/client/sql.js';
import { versionTime } from '../write/version-clock.js';
import { accessPaths } from './access-paths.js';
import { rollupMatches, spanFound, spanMatches } from './compile.js';
import { extentOf, spansInSessions, type ExtentRow } from './extents.js';
import type { Found, ListReads } from './list-reads.js';
import type { Objects } from './properties.js';
import { scoreValueOf } from './newest-scores.js';
import { ALL } from './rows.js';
import { sessionSource, spanSource, traceSource, type ListSource } from './sources.js';
import {
  ALL_BUCKETS,
  ALL_GROUPS,
  figuresOf,
  figuresTogether,
  largestGroups,
  REST_GROUP,
  timeRange,
  valuesOf,
  windowFiguresOf,
  type FigureRow,
  type Surveyed,
  type ValueRow,
} from './statistics.js';

const SOURCES = { spans: spanSource, traces: traceSource, sessions: sessionSource } as const;

type ListName = ListDefinition['name'];

/** Figures of the objects of the three lists, read from ClickHouse as the lists are. */
export class ClickHouseStatistics implements ListStatistics {
  readonly #reads: ListReads;

  constructor(reads: ListReads) {
    this.#reads = reads;
  }

  statistics(list: ListName, projectId: string, query: StatisticsQuery, signal?: AbortSignal) {
    const scores = [...query.scores, ...scoreOf(query.groupBy)];
    const read = { source: SOURCES[list], projectId, query: query.objects, signal, name: `${list}:stats`, scores };
    return this.#reads.read<Statistics>(read, async (found) => {
      const objects = await this.#objects(read.source, found, query.objects, signal);
      const survey = await this.#survey(objects, query, signal);
      const { from, to, texts, latest } = survey;
      const buckets =
        from === null || to === null ? null : bucketsBetween(from, to, query.bucketSeconds, query.timeZone);
      const grouped = query.groupBy === null ? null : { property: query.groupBy, texts };
      const statement = figuresOf(objects, { measures: query.measures, scores: query.scores, buckets, grouped });
      const figures = new FigureTable(await this.#rows<FigureRow>(statement, signal), read.source.list, query);
      const starts = buckets?.edges.slice(0, -1) ?? [];
      const series = (group: number) => figures.series(group, starts.length);
      return {
        from,
        to,
        bucketSeconds: buckets?.seconds ?? query.bucketSeconds,
        starts,
        ...series(ALL_GROUPS),
        groups: texts.map((text, index) => ({
          value: valueOf(read.source, query.groupBy, text),
          lastStart: latest[index] ?? null,
          ...series(index + 1),
        })),
        rest: figures.has(REST_GROUP) ? series(REST_GROUP) : null,
      };
    });
  }

  windows(
    list: ListName,
    projectId: string,
    { objects: asked, windows, ...query }: WindowsQuery,
    signal?: AbortSignal,
  ) {
    const source = SOURCES[list];
    const objects = startingFrom(source.list, asked, windows.end - windows.length + 1);
    const read = { source, projectId, query: objects, signal, name: `${list}:windows`, scores: query.scores };
    return this.#reads.read<WindowFigures>(read, async (found) => {
      const statement = windowFiguresOf(await this.#objects(source, found, objects, signal), { ...query, windows });
      const rows = await this.#rows<FigureRow>(statement, signal);
      const figures = new FigureTable(rows, source.list, query);
      return { windows: figures.series(ALL_GROUPS, windows.count).buckets, isEmpty: rows.length === 0 };
    });
  }

  windowTogether(projectId: string, { queries, measures, end, length }: WindowTogether, signal?: AbortSignal) {
    const source = spanSource;
    const all: ListQuery = { ...defaultQuery(source.list), internal: 'included' };
    const query = startingFrom(source.list, all, end - length + 1);
    const read = { source, projectId, query, signal, name: `${source.list.name}:windows` };
    return this.#reads.read<TogetherFigures>(read, async (found) => {
      const objects = await this.#objects(source, found, query, signal);
      const statement = figuresTogether(objects, { measures, found: queries.map(spanFound), end });
      const rows = await this.#rows<FigureRow>(statement, signal);
      const figures = new FigureTable(rows, source.list, { measures, scores: [] });
      const known = new Set(rows.map(({ group_number: group }) => group));
      return {
        found: queries.map((_, index) => ({
          windows: figures.series(index + 1, 1).buckets,
          isEmpty: !known.has(index + 1),
        })),
      };
    });
  }

  totals(list: ListName, projectId: string, { values, of, ...query }: TotalsQuery, signal?: AbortSignal) {
    const read = {
      source: SOURCES[list],
      projectId,
      query: query.objects,
      signal,
      name: `${list}:totals`,
      scores: scoreOf(of),
    };
    return this.#reads.read<{ readonly totals: readonly Figures[] }>(read, async (found) => {
      const objects = await this.#objects(read.source, found, query.objects, signal);
      const grouped = { property: of, texts: values };
      const statement = figuresOf(objects, { measures: query.measures, scores: [], buckets: null, grouped });
      const figures = new FigureTable(await this.#rows<FigureRow>(statement, signal), read.source.list, {
        ...query,
        scores: [],
      });
      return { totals: values.map((_, index) => figures.series(index + 1, 0).totals) };
    });
  }

  facets(list: ListName, projectId: string, query: FacetQuery, signal?: AbortSignal): Promise<Answer<Facets>> {
    const read = {
      source: SOURCES[list],
      projectId,
      query: query.objects,
      signal,
      name: `${list}:facets`,
      scores: scoreOf(query.of),
    };
    return this.#reads.read<Facets>(read, async (found) => {
      const objects = await this.#objects(read.source, found, query.objects, signal);
      const rows = await this.#rows<ValueRow>(valuesOf(objects, query), signal);
      return {
        values: rows.flatMap(({ too_long, shown, objects: count }) => {
          const value = too_long === 0 ? valueOf(read.source, query.of, shown) : null;
          return value === null ? [] : [{ value, count: Number(count) }];
        }),
        total: Number(rows[0]?.values ?? 0),
      };
    });
  }

  extent(list: ListName, projectId: string, query: ListQuery, signal?: AbortSignal): Promise<Answer<Extent>> {
    const read = { source: SOURCES[list], projectId, query, signal, name: `${list}:extent` };
    return this.#reads.read<Extent>(read, async (found) => {
      const objects = await this.#objects(read.source, found, query, signal);
      const [row] = await this.#rows<ExtentRow>(extentOf(objects), signal);
      // A session does not know how many spans are in its traces.
      const [inTraces] =
        list === 'sessions' ? await this.#rows<{ spans: string }>(spansInSessions(objects), signal) : [];
      return {
        upTo: versionTime(found.scope.upTo),
        traces: Number(row?.traces ?? 0),
        spans: Number((inTraces ?? row)?.spans ?? 0),
        sessions: Number(row?.sessions ?? 0),
        cost: row?.costs ?? null,
        oldest: microsOf(row?.oldest ?? null),
        newest: microsOf(row?.newest ?? null),
      };
    });
  }

  async #objects(
    source: ListSource,
    { scope }: Found,
    query: ListQuery,
    signal: AbortSignal | undefined,
  ): Promise<Objects> {
    if (source === spanSource) return { source, scope, matches: spanMatches(scope, query) };
    const paths = await accessPaths(this.#reads.reader.rows, source, scope, query, signal);
    return { source, scope, matches: rollupMatches(source, scope, query, paths.at(-1) ?? ALL) };
  }

  /** What has to be known before figures can be asked for: the largest groups, and where no bounds say so, the time. */
  async #survey(objects: Objects, { objects: asked, groupBy }: StatisticsQuery, signal: AbortSignal | undefined) {
    const { from, to } = startsAskedFor(asked);
    if (groupBy === null && from !== null && to !== null) return { from, to, texts: [], latest: [] };
    const statement = groupBy === null ? timeRange(objects) : largestGroups(objects, groupBy);
    const rows = await this.#rows<Surveyed>(statement, signal);
    const { first = null, last = null } = rows[0] ?? {};
    const groups = groupBy === null ? [] : rows.filter(({ too_long }) => too_long === 0);
    return {
      from: from ?? microsOf(first),
      to: to ?? microsOf(last),
      texts: groups.map(({ shown = null }) => shown),
      latest: groups.map(({ latest = null }) => microsOf(latest)),
    };
  }

  #rows<T>(statement: Sql, signal: AbortSignal | undefined): Promise<T[]> {
    return this.#reads.reader.rows<T>(statement, { signal });
  }
}

const scoreOf = (property: Property | null) => (property?.by === 'score' ? [property.name] : []);

const microsOf = (text: string | null) => (text === null ? null : Number(text));

/** A value of a property as the lists have it. */
function valueOf({ list }: ListSource, property: Property | null, text: string | null): PropertyValue {
  if (text !== null && property?.by === 'score') return scoreValueOf(text);
  if (text === null || property?.by !== 'field') return text;
  switch (list.fields[property.field]?.type) {
    case 'boolean':
      return text === '1';
    case 'integer':
    case 'number':
      return Number(text);
    default:
      return text;
  }
}

type Measured = Pick<StatisticsQuery, 'measures' | 'scores'>;

/** The figures of a statement, by group and bucket. */
class FigureTable {
  readonly #rows: ReadonlyMap<string, FigureRow>;
  readonly #list: ListDefinition;
  readonly #query: Measured;

  constructor(rows: readonly FigureRow[], list: ListDefinition, query: Measured) {
    this.#rows = new Map(rows.map((row) => [`${row.group_number}/${row.bucket_number}`, row]));
    this.#list = list;
    this.#query = query;
  }

  has(group: number): boolean {
    return this.#rows.has(`${group}/${ALL_BUCKETS}`);
  }

  series(group: number, buckets: number): Series {
    return {
      totals: this.#figures(group, ALL_BUCKETS),
      buckets: Array.from({ length: buckets }, (_, index) => this.#figures(group, index + 1)),
    };
  }

  #figures(group: number, bucket: number): Figures {
    const row = this.#rows.get(`${group}/${bucket}`);
    const has = (measure: StatisticsQuery['measures'][number]) => this.#query.measures.includes(measure);
    return {
      ...(has('count') && { count: Number(row?.objects ?? 0) }),
      ...(has('errors') && { error_count: Number(row?.errors ?? 0) }),
      // Nothing costs nothing; what costs nobody knows how much is another matter.
      ...(has('cost') && { cost: row === undefined ? '0' : (row.costs ?? null) }),
      ...(has('duration') && { duration_ms: percentiles(row?.durations ?? []) }),
      ...(has('tokens') && { tokens: this.#tokens(row) }),
      ...Object.fromEntries(
        this.#query.scores.map((name, index) => [SCORE_PREFIX + name, scoreFigures(row?.[`scores_${index}`] ?? [])]),
      ),
    };
  }

  #tokens(row: FigureRow | undefined): Record<string, number | null> {
    const sums = tokenFields(this.#list).map(([name], index): [string, number | null] => {
      const sum = row === undefined ? 0 : (row[`tokens_${index}`] ?? null);
      return [name, sum === null ? null : Number(sum)];
    });
    return Object.fromEntries(sums);
  }
}

function percentiles(values: readonly (number | null)[]): Percentiles {
  const names = Object.keys(PERCENTILES) as (keyof typeof PERCENTILES)[];
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? null])) as Percentiles;
}

function scoreFigures([count, mean = null, min = null, max = null, ...levels]: readonly (
  number | null
)[]): ScoreFigures {
  return { count: count ?? 0, mean, min, max, ...percentiles(levels) };
}
