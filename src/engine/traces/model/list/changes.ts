import type { ListQuery } from './query.js';
import type { State } from './tail.js';

/** Lists whose rows are followed by versions. */
export type Followed = 'spans' | 'traces' | 'sessions';

/** What of a list is followed by versions. */
export interface ChangesOf {
  readonly projectId: string;
  readonly list: Followed;
  /** Order and window of it mean nothing. */
  readonly query: ListQuery;
}

/** Where a page begins, and how far behind it versions are looked at. */
export interface ChangesFrom {
  readonly after: State;
  readonly width: number;
}

/** The first page of a range. */
export const CHANGES_WIDTH = 10_000_000;

export interface ChangePage {
  /** JSON objects as the list has them. */
  readonly rows: readonly string[];
  /** Where the next page begins: everything up to its `after` is told. */
  readonly next: ChangesFrom;
  /** Ids of rows that were left out, as their figures are not right: they are set aside. */
  readonly leftOut: readonly string[];
}

/** Rows that were left out of pages, once they need not be. */
export interface SettledRows {
  /** Those that nothing was written to since. */
  readonly rows: readonly string[];
  /** Ids of rows that wait no more: they are told, will be told by a page, or are gone. */
  readonly ids: readonly string[];
}

/**
 * Rows of a list by the versions in which they are stored now: a reader that continues behind the last one sees each version once. One
 * that was replaced before it was asked for is left out, and so is what is gone.
 */
export interface ListChanges {
  /** The state with everything that is acknowledged. @throws DomainError `unavailable` */
  now(): State;
  /**
   * Rows whose versions are behind one and not behind another, and that nothing was written to since. A session has the version of
   * what was written last to any trace that it has or had.
   * @param upTo a state that was acknowledged before the call
   * @throws DomainError `unavailable`
   */
  page(of: ChangesOf, from: ChangesFrom, upTo: State, signal?: AbortSignal): Promise<ChangePage>;
  /**
   * What became of rows that pages left out.
   * @param after the version up to which everything is told, except for them
   * @throws DomainError `unavailable`
   */
  settled(of: ChangesOf, ids: readonly string[], after: State, signal?: AbortSignal): Promise<SettledRows>;
}
