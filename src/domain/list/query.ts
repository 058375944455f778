import type { Filter, ListDefinition } from './definitions.js';

/** A value to filter by; times are in microseconds. */
export type FilterValue = string | number | boolean | null;

export interface AppliedFilter {
  readonly filter: Filter;
  /** The value, or several for `anyOf`; null only for `isOrNull`. */
  readonly values: readonly FilterValue[];
}

/** A checked request for a page of a list. */
export interface ListQuery {
  readonly filters: readonly AppliedFilter[];
  /** Tag key → accepted values; every key must match one of its values. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
  /** Text to be found in input or output, ignoring case. */
  readonly search: string | null;
  readonly sort: string;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
  /** Whether to count all rows that match, too. */
  readonly count: boolean;
  /** Names of the fields to answer; null: all. */
  readonly fields: readonly string[] | null;
}

/** Larger offsets would have the store sort more rows than anybody pages through. */
export const MAX_OFFSET = 100_000_000;

/** The first page of a list when nothing particular is asked for. */
export function defaultQuery(list: ListDefinition): ListQuery {
  return {
    filters: [],
    tags: new Map(),
    search: null,
    sort: list.defaultSort,
    descending: true,
    limit: list.defaultLimit,
    offset: 0,
    count: false,
    fields: null,
  };
}
