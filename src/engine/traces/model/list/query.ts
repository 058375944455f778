import { OWN_CALL_TAGS } from '../../../schema/own-calls.js';
import type { Micros } from '../../../timestamp.js';
import type { Filter, ListDefinition } from './definitions.js';

/** A value to filter by; times are in microseconds. */
export type FilterValue = string | number | boolean | null;

export interface AppliedFilter {
  readonly filter: Filter;
  /** The value, or several for `anyOf`; null only for `isOrNull`. */
  readonly values: readonly FilterValue[];
}

/** Whether objects of a kind are listed that are usually not meant: not, too, or alone. */
export type Listed = 'left out' | 'included' | 'only';

/** What stands before the name of a score where one is sorted or filtered by. */
export const SCORE_PREFIX = 'scores.';

/** What the newest score of a name has to be. Null: anything. */
export interface ScoreFilter {
  /** As texts: one of these. */
  readonly values: readonly string[] | null;
  /** Bounds of numbers, inclusive. */
  readonly min: number | null;
  readonly max: number | null;
}

/** Where a span stands in a list that is sorted by starts. */
export interface ListedPosition {
  readonly started_at: Micros;
  readonly trace_id: string;
  readonly id: string;
}

/** What a span has to meet. */
export type AskedOfSpan = Pick<ListQuery, 'filters' | 'tags' | 'scores' | 'search'>;

/** A checked request for a page of a list. */
export interface ListQuery {
  readonly filters: readonly AppliedFilter[];
  /** Tag key → accepted values; every key must match one of its values. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
  /** Name of a score → what it has to be; every one must match. */
  readonly scores: ReadonlyMap<string, ScoreFilter>;
  /** Text to be found in input, output, error message or error code, ignoring case. */
  readonly search: string | null;
  /** Of each of these, the trace of a listed span must have a span that meets it; only lists of spans, one page at a time, have it. */
  readonly inTracesWith?: readonly AskedOfSpan[];
  /** Only spans that come behind this place: of a list of spans that is sorted by starts, whose pages have no others then. */
  readonly behind?: ListedPosition | null;
  /** The server's own calls of models: of judges, trials, optimizations and the playground. */
  readonly internal: Listed;
  /** Spans of experiments, with all else in the traces that they are in or that they were made in. */
  readonly experiments: Listed;
  /** The only experiment whose spans, or whose traces, are listed; null: any. */
  readonly experiment: string | null;
  /** A field, or the name of a score behind {@link SCORE_PREFIX}. */
  readonly sort: string;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
  /** Whether to count all rows that match, too. */
  readonly count: boolean;
  /** Names of the fields to answer; null: all. */
  readonly fields: readonly string[] | null;
  /** The middle of texts with more characters is left out; null: of none. */
  readonly textLimit: number | null;
}

/** Larger offsets would have the store sort more rows than anybody pages through. */
export const MAX_OFFSET = 100_000_000;

/** Characters that texts may be cut to: enough of them for every id. */
export const TEXT_LIMITS = { minimum: 100, maximum: 100_000 } as const;

/** The first page of a list when nothing particular is asked for. */
export function defaultQuery(list: ListDefinition): ListQuery {
  return {
    filters: [],
    tags: new Map(),
    scores: new Map(),
    search: null,
    internal: 'left out',
    experiments: 'left out',
    experiment: null,
    sort: list.defaultSort,
    descending: true,
    limit: list.defaultLimit,
    offset: 0,
    count: false,
    fields: null,
    textLimit: null,
  };
}

/** Filters that name an object: what belongs to it is meant as a whole, so that its figures are those of what is listed. */
const IDS = new Set(['id', 'trace_id', 'session_id']);

/** Whether a query names an object. */
export function namesObject(filters: readonly AppliedFilter[]): boolean {
  return filters.some(({ filter: { parameter } }) => IDS.has(parameter));
}

const LISTED = { true: 'included', false: 'left out', only: 'only' } as const;

/** How a query says what is listed. */
export type AskedListed = keyof typeof LISTED;

/** Which of the server's own calls are meant. Whoever asks for an id, or for their tags, means them too, unless they say otherwise. */
export function internalOf(
  asked: AskedListed | undefined,
  filters: readonly AppliedFilter[],
  tags: ListQuery['tags'],
): Listed {
  if (asked !== undefined) return LISTED[asked];
  return namesObject(filters) || OWN_CALL_TAGS.some((tag) => tags.has(tag)) ? 'included' : 'left out';
}

/** The same of experiments, which are asked for by their ids. */
export function experimentsOf(
  asked: AskedListed | undefined,
  filters: readonly AppliedFilter[],
  experiment: string | null,
): Listed {
  if (asked !== undefined) return LISTED[asked];
  return namesObject(filters) || experiment !== null ? 'included' : 'left out';
}
