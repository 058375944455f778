import type { ListQuery } from '../model/list/query.js';
import type { Sql } from '../clickhouse/client/sql.js';
import type { ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import type { SpanPlace } from './compile.js';
import { idsAskedFor, idSet } from './rows.js';
import { scoreSortedBy, spansEverScored, spansScored } from './score-filters.js';

/** How many more spans are looked at than are wanted, or than the share of those found suggests. */
const MARGIN = 1.3;
/** Looking at more of them takes longer than comparing all. */
const LAST_LOOK = 2_000;

/** Reads the places of a page of spans that also meet some conditions. */
export type ReadAmong = (query: ListQuery, conditions: readonly Sql[]) => Promise<readonly SpanPlace[]>;

/**
 * Finds the page of a list of spans that is filtered by scores: the first spans that ever had such a score, which the order of values
 * tells, then of these the ones whose newest score is such. Traces and sessions hold many scores, of which few are the newest: these
 * are stored.
 */
export class ScoreFilterSearch {
  readonly #rows: ReadRows;

  constructor(rows: ReadRows) {
    this.#rows = rows;
  }

  /** @returns the page; null when it is not filtered by scores alone, or comparing all is as quick */
  async page(
    scope: ReadScope,
    query: ListQuery,
    read: ReadAmong,
    signal?: AbortSignal,
  ): Promise<readonly SpanPlace[] | null> {
    if (query.scores.size === 0 || scoreSortedBy(query) !== null || idsAskedFor(query) !== null) return null;
    const ever = spansEverScored(scope, query);
    const wanted = query.offset + query.limit;
    const found: SpanPlace[] = [];
    let looked = 0;
    let limit = Math.ceil(wanted * MARGIN);
    while (looked + limit <= LAST_LOOK) {
      const places = await read({ ...query, scores: new Map(), offset: looked, limit }, ever);
      const ids = await this.#scored(
        scope,
        query,
        places.map(({ place_id }) => place_id),
        signal,
      );
      found.push(...places.filter(({ place_id }) => ids.has(place_id)));
      if (found.length >= wanted || places.length < limit) return found.slice(query.offset, wanted);
      looked += limit;
      limit = Math.ceil(((wanted - found.length) * looked * MARGIN) / Math.max(1, found.length));
    }
    return null;
  }

  /** Those of some spans whose newest scores are all as asked. */
  async #scored(scope: ReadScope, query: ListQuery, ids: readonly string[], signal?: AbortSignal) {
    let left = ids;
    for (const asked of query.scores) {
      if (left.length === 0) break;
      const rows = await this.#rows<{ id: string }>(spansScored(scope, asked, idSet(left)), { signal });
      const scored = new Set(rows.map(({ id }) => id));
      left = left.filter((id) => scored.has(id));
    }
    return new Set(left);
  }
}
