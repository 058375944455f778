import type { ListQuery } from '../../../domain/list/query.js';
import type { TimeRange } from '../read/times.js';
import type { Candidates, WordIndex } from '../search/word-index.js';
import type { Sql } from '../client/sql.js';
import { hasSpans, idPage, idsHolding } from './compile.js';
import type { ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { accessPathsOf } from './rows.js';
import { spanSource, type ListSource } from './sources.js';

/** Fewer spans that may hold the text are quicker looked at all at once. */
const WORTH_A_LOOK = 100_000;
/** How many of the newest or oldest spans are looked at first, and then: in the end as many as take a second. */
const OUTERMOST_SPANS = [65_536, 524_288];
/** How many rows of a list are looked at first, and then, for a text that occurs often. */
const ID_PAGES = [256, 1024];
/** How many more rows are looked at after those, when the spans of neighbouring rows lie next to each other. */
const LONG_ID_PAGES = [4096, 16_384, 16_384, 16_384];

/** Finds the rows of a list that hold a text with as little reading as it takes. */
export class TextSearch {
  readonly #words: WordIndex;
  readonly #rows: ReadRows;

  constructor(words: WordIndex, rows: ReadRows) {
    this.#words = words;
    this.#rows = rows;
  }

  /** Adds to a scope the times at which the text that is searched for may occur. */
  async near(
    scope: ReadScope,
    query: ListQuery,
    signal?: AbortSignal,
  ): Promise<{ scope: ReadScope; candidates: Candidates | null }> {
    if (query.search === null) return { scope, candidates: null };
    const candidates = await this.#words.candidates(scope.projectId, query.search, (statement) =>
      this.#rows(statement, { signal }),
    );
    return { scope: candidates === null ? scope : { ...scope, within: candidates.ranges }, candidates };
  }

  /**
   * The times of the newest, or oldest, spans when the page surely lies among them, so that only these are read; or null.
   * Reading in order begins in all parts of the table at once, and in each it goes on until a first text is found.
   */
  async firstSpans(
    scope: ReadScope,
    query: ListQuery,
    candidates: Candidates,
    signal?: AbortSignal,
  ): Promise<readonly TimeRange[] | null> {
    if (query.sort !== spanSource.list.defaultSort) return null;
    for (const spans of OUTERMOST_SPANS) {
      const within = candidates.outermost(spans, query.descending);
      if (within === null) return null;
      const statement = hasSpans({ ...scope, within }, query, query.offset + query.limit);
      const [row] = await this.#rows<{ enough: number }>(statement, { signal });
      if (row?.enough === 1) return within;
    }
    return null;
  }

  /**
   * The page of a query for what objects hold, a text or tags, that many hold: found among the first rows of the list,
   * without reading all spans.
   * @returns its ids in their order; null when the first rows do not hold the whole page.
   */
  async firstHolding(
    source: ListSource,
    scope: ReadScope,
    query: ListQuery,
    candidates: Candidates | null,
    signal?: AbortSignal,
  ): Promise<string[] | null> {
    const few = candidates !== null && candidates.spans < WORTH_A_LOOK;
    const [access] = accessPathsOf(source, query);
    if ((query.search === null && query.tags.size === 0) || few || access.by === 'ids') return null;
    const found: string[] = [];
    let offset = 0;
    // How many spans have a tag is not known beforehand, as it is of words.
    const adjacent = query.search !== null && query.sort === source.list.defaultSort;
    for (const limit of adjacent ? [...ID_PAGES, ...LONG_ID_PAGES] : ID_PAGES) {
      const ids = await this.#idPage(source, scope, { ...query, offset, limit }, signal);
      const holders = new Set(ids.length === 0 ? [] : await this.#ids(idsHolding(source, scope, query, ids), signal));
      found.push(...ids.filter((id) => holders.has(id)));
      if (found.length >= query.offset + query.limit || ids.length < limit)
        return found.slice(query.offset, query.offset + query.limit);
      offset += limit;
    }
    return null;
  }

  /** Ids of a page, whatever its objects hold. */
  async #idPage(source: ListSource, scope: ReadScope, query: ListQuery, signal?: AbortSignal): Promise<string[]> {
    const any = { ...query, search: null, tags: new Map() };
    let ids: string[] = [];
    for (const access of accessPathsOf(source, any)) {
      ids = await this.#ids(idPage(source, scope, any, access), signal);
      if (ids.length >= query.limit) break;
    }
    return ids;
  }

  async #ids(statement: Sql, signal?: AbortSignal): Promise<string[]> {
    const rows = await this.#rows<{ id: string }>(statement, { signal });
    return rows.map(({ id }) => id);
  }
}
