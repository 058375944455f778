import type { ListQuery } from '../model/list/query.js';
import type { Sql } from '../clickhouse/client/sql.js';
import type { ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { idsAskedFor, idSet } from './rows.js';
import { everScored, scoredAs, scoreSortedBy } from './score-filters.js';
import type { ListSource } from './sources.js';

/** How many more rows are looked at than are wanted, or than the share of those found suggests. */
const MARGIN = 1.3;
/** Looking at more of them takes longer than comparing all. */
const LAST_LOOK = 2_000;

/** Reads a page of those that also meet some conditions. */
export type ReadAmong<T> = (query: ListQuery, conditions: readonly Sql[]) => Promise<readonly T[]>;

/**
 * Finds the page of a list that is filtered by scores: first rows that ever had such a score, which the order of values tells, then of
 * these the ones whose newest score is such.
 */
export class ScoreFilterSearch {
  readonly #rows: ReadRows;

  constructor(rows: ReadRows) {
    this.#rows = rows;
  }

  /** @returns the page; null when it is not filtered by scores, or comparing all is as quick */
  async page<T>(
    source: ListSource,
    scope: ReadScope,
    query: ListQuery,
    { read, idOf, signal }: { read: ReadAmong<T>; idOf: (row: T) => string; signal: AbortSignal | undefined },
  ): Promise<readonly T[] | null> {
    if (query.scores.size === 0 || scoreSortedBy(query) !== null || idsAskedFor(query) !== null) return null;
    const ever = everScored(source, scope, query);
    const wanted = query.offset + query.limit;
    const found: T[] = [];
    let looked = 0;
    let limit = Math.ceil(wanted * MARGIN);
    while (looked + limit <= LAST_LOOK) {
      const rows = await read({ ...query, scores: new Map(), offset: looked, limit }, ever);
      const ids = await this.#scored(source, scope, query, rows.map(idOf), signal);
      found.push(...rows.filter((row) => ids.has(idOf(row))));
      if (found.length >= wanted || rows.length < limit) return found.slice(query.offset, wanted);
      looked += limit;
      limit = Math.ceil(((wanted - found.length) * looked * MARGIN) / Math.max(1, found.length));
    }
    return null;
  }

  /** Those of some objects whose newest scores are all as asked. */
  async #scored(source: ListSource, scope: ReadScope, query: ListQuery, ids: readonly string[], signal?: AbortSignal) {
    let left = ids;
    for (const asked of query.scores) {
      if (left.length === 0) break;
      const rows = await this.#rows<{ id: string }>(scoredAs(source, scope, asked, idSet(left)), { signal });
      const scored = new Set(rows.map(({ id }) => id));
      left = left.filter((id) => scored.has(id));
    }
    return new Set(left);
  }
}
