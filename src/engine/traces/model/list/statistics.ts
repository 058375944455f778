import type { Micros } from '../../../timestamp.js';
import type { ListDefinition } from './definitions.js';
import { namesObject, type AppliedFilter, type ListQuery, type SCORE_PREFIX } from './query.js';

/** What statistics say of objects. */
export const MEASURES = ['count', 'errors', 'cost', 'duration', 'tokens'] as const;
export type Measure = (typeof MEASURES)[number];

/** The percentiles of durations, by their names. */
export const PERCENTILES = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;
export type Percentiles = Readonly<Record<keyof typeof PERCENTILES, number | null>>;

/** Figures of the newest scores of a name: of numbers, and of true as 1 and false as 0. */
export interface ScoreFigures extends Percentiles {
  /** How many objects have one. */
  readonly count: number;
  readonly mean: number | null;
  readonly min: number | null;
  readonly max: number | null;
}
/** Most measures of one call: each score is looked up for all objects. */
export const MAX_MEASURES = 15;

/** A property of objects that has values: a field, the tag of a key, the keys of all tags, or the newest score of a name. */
export type Property =
  | { readonly by: 'field'; readonly field: string }
  | { readonly by: 'tag'; readonly key: string }
  | { readonly by: 'tag keys' }
  | { readonly by: 'score'; readonly name: string };
export type PropertyValue = string | number | boolean | null;

/** The most groups that are shown by themselves. */
export const MAX_GROUPS = 8;
/** Longest value that is a group, or is listed by facets, in bytes of UTF-8: a URL has room for no longer one to filter by. */
export const LONGEST_VALUE = 4096;

export interface StatisticsQuery {
  /** Which objects: those of the list with this query, all its pages. */
  readonly objects: ListQuery;
  readonly measures: readonly Measure[];
  /** Names of scores whose figures are wanted, too. */
  readonly scores: readonly string[];
  /** Null: by the range of time. */
  readonly bucketSeconds: number | null;
  /** An IANA time zone. */
  readonly timeZone: string;
  readonly groupBy: Property | null;
}

/** Figures of the objects that have each of some values. */
export interface TotalsQuery extends Pick<StatisticsQuery, 'objects' | 'measures'> {
  readonly of: Property;
  /** At most 200. */
  readonly values: readonly string[];
}

/** What was asked for of some objects. */
export interface Figures {
  readonly count?: number;
  readonly error_count?: number;
  /** A decimal, as the store adds it up; null: no object has a known cost. */
  readonly cost?: string | null;
  readonly duration_ms?: Percentiles;
  /** Sums by class, each null when no object knows it. */
  readonly tokens?: Readonly<Record<string, number | null>>;
  readonly [score: `${typeof SCORE_PREFIX}${string}`]: ScoreFigures;
}

export interface Series {
  readonly totals: Figures;
  /** One for each of the buckets, in their order. */
  readonly buckets: readonly Figures[];
}

export interface Group extends Series {
  readonly value: PropertyValue;
  /** When the latest of them started; null: none has a start. */
  readonly lastStart: Micros | null;
}

export interface Statistics extends Series {
  /** Null: nothing bounds the time, as nothing with a time was found. */
  readonly from: Micros | null;
  readonly to: Micros | null;
  readonly bucketSeconds: number | null;
  readonly starts: readonly Micros[];
  /** The largest by count. */
  readonly groups: readonly Group[];
  /** All that have another value than those of the groups; null: none has. */
  readonly rest: Series | null;
}

/** Stretches of time of one length, each of which ends a step later than the one before. */
export interface Windows {
  /** When the first one ends. An object that starts at the end is in it; one that starts at the beginning is not. */
  readonly end: Micros;
  readonly step: Micros;
  readonly length: Micros;
  /** At most {@link MAX_WINDOWS}. */
  readonly count: number;
}
export const MAX_WINDOWS = 60_000;

/** Figures of the objects that started within each of some windows; the filters of the query bound no start. */
export interface WindowsQuery extends Pick<StatisticsQuery, 'objects' | 'measures' | 'scores'> {
  readonly windows: Windows;
}

/** Figures of windows, in their order. */
export interface WindowFigures {
  readonly windows: readonly Figures[];
  /** Whether nothing started in any of the windows, or after them. */
  readonly isEmpty: boolean;
}

/** Queries of spans whose figures of one window are read together. */
export interface WindowTogether extends Pick<StatisticsQuery, 'measures'> {
  /** At most {@link MAX_TOGETHER}, each as {@link isOfRows} says. */
  readonly queries: readonly ListQuery[];
  readonly end: Micros;
  readonly length: Micros;
}
export const MAX_TOGETHER = 16;

/** What each of several queries found. */
export interface TogetherFigures {
  readonly found: readonly WindowFigures[];
}

/** Whether it can be told of each span by itself whether a query finds it: such queries can be read together. */
export function isOfRows(query: ListQuery): boolean {
  const { filters, scores, search, experiments, experiment } = query;
  const isPlain = search === null && scores.size === 0 && experiments === 'left out' && experiment === null;
  return isPlain && !namesObject(filters) && !boundsStarts(query);
}

export interface FacetQuery {
  readonly objects: ListQuery;
  readonly of: Property;
  /** What values begin with, whatever its case. */
  readonly prefix: string;
  readonly limit: number;
}

export interface Facets {
  readonly values: readonly { readonly value: NonNullable<PropertyValue>; readonly count: number }[];
  /** How many values there are, of which these are the most frequent that are not too long. */
  readonly total: number;
}

/** What was found, and which traces or sessions of the project may lack recent writes, as `Page` says. */
export type Answer<T> = T & { readonly notCurrent: readonly string[] };

/** How much a query finds, with all that is in it, as of a moment. */
export interface Extent {
  readonly upTo: Micros;
  readonly traces: number;
  readonly spans: number;
  readonly sessions: number;
  /** As of {@link Figures}. */
  readonly cost: string | null;
  /** When the first and the last of what is found started; null: nothing with a start was. */
  readonly oldest: Micros | null;
  readonly newest: Micros | null;
}

/** Figures of what the lists show, in one state, under their limits, and with their failures. */
export interface ListStatistics {
  statistics(
    list: ListDefinition['name'],
    projectId: string,
    query: StatisticsQuery,
    signal?: AbortSignal,
  ): Promise<Answer<Statistics>>;
  windows(
    list: ListDefinition['name'],
    projectId: string,
    query: WindowsQuery,
    signal?: AbortSignal,
  ): Promise<Answer<WindowFigures>>;
  /** As {@link windows}, of several queries of spans, in their order: what they have in common is read once. */
  windowTogether(projectId: string, query: WindowTogether, signal?: AbortSignal): Promise<Answer<TogetherFigures>>;
  /** In the order of the values. */
  totals(
    list: ListDefinition['name'],
    projectId: string,
    query: TotalsQuery,
    signal?: AbortSignal,
  ): Promise<Answer<{ readonly totals: readonly Figures[] }>>;
  facets(
    list: ListDefinition['name'],
    projectId: string,
    query: FacetQuery,
    signal?: AbortSignal,
  ): Promise<Answer<Facets>>;
  extent(
    list: ListDefinition['name'],
    projectId: string,
    objects: ListQuery,
    signal?: AbortSignal,
  ): Promise<Answer<Extent>>;
}

/** The fields with numbers of tokens, by the class of tokens that they are about. */
export function tokenFields({ fields }: ListDefinition): readonly (readonly [name: string, field: string])[] {
  return Object.keys(fields).flatMap((field) => {
    const name = /^(.+)_tokens$/.exec(field)?.[1];
    return name === undefined ? [] : [[name, field] as const];
  });
}

/** The measures that a list has. */
export function measuresOf(list: ListDefinition): Measure[] {
  return MEASURES.filter((measure) => measure !== 'tokens' || tokenFields(list).length > 0);
}

const START = 'started_at';

/** Between which moments, both included, a query has objects start; null: at any time before, or after. */
export function startsAskedFor({ filters }: ListQuery): { readonly from: Micros | null; readonly to: Micros | null } {
  const bound = (comparison: AppliedFilter['filter']['comparison']) => {
    const found = filters.find(({ filter }) => filter.field === START && filter.comparison === comparison);
    return found === undefined ? null : Number(found.values[0]);
  };
  return { from: bound('atLeast'), to: bound('atMost') };
}

/** Whether a query bounds when objects start. */
export function boundsStarts({ filters }: ListQuery): boolean {
  return filters.some(({ filter: { field } }) => field === START);
}

/** The query, of those objects that start at a moment or later. */
export function startingFrom(list: ListDefinition, query: ListQuery, from: Micros): ListQuery {
  const after = list.filters.find(({ field, comparison }) => field === START && comparison === 'atLeast');
  if (after === undefined) throw new Error(`${list.name} are not filtered by their start`);
  return { ...query, filters: [...query.filters, { filter: after, values: [from] }] };
}

const FACET_DAYS = 7;

/** The query, bounded to the last days unless it bounds the time itself, or names an object. */
export function latelyUnlessBounded(list: ListDefinition, query: ListQuery, now: Micros): ListQuery {
  const bounded = boundsStarts(query) || query.filters.some(({ filter: { field } }) => field === 'created_at');
  return bounded || namesObject(query.filters) ? query : startingFrom(list, query, now - FACET_DAYS * 86_400e6);
}
