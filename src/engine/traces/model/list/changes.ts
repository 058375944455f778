import type { ListQuery } from './query.js';
import type { State, Tailed } from './tail.js';

/** What of a list is followed by versions. */
export interface ChangesOf {
  readonly projectId: string;
  readonly list: Tailed;
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
}

/**
 * Rows of a list by the versions in which they are stored now: whoever goes on behind the last one is told of each version once. One
 * that was replaced before it was asked for is not told of, nor is what is gone.
 */
export interface ListChanges {
  /** The state with everything that is acknowledged. @throws DomainError `unavailable` */
  now(): State;
  /**
   * Rows whose versions are behind one and not behind another, and that nothing was written to since.
   * @param upTo a state that was acknowledged before the call
   * @throws DomainError `unavailable`
   */
  page(of: ChangesOf, from: ChangesFrom, upTo: State, signal?: AbortSignal): Promise<ChangePage>;
}
