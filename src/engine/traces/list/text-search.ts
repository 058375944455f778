import type { ListQuery } from '../model/list/query.js';
import type { TimeRange } from '../read/times.js';
import type { Candidates, WordIndex } from '../search/word-index.js';
import type { Sql } from '../clickhouse/client/sql.js';
import { hasSpans, idPage, idsHolding, spansEstimated } from './compile.js';
import type { ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { accessPaths, estimated } from './access-paths.js';
import { idsAskedFor } from './rows.js';
import { spanSource, type ListSource } from './sources.js';

/** Fewer spans that may hold the text are quicker looked at all at once. */
const WORTH_A_LOOK = 100_000;
/** How many of the newest or oldest spans are looked at first, and then: in the end as many as take a second. */
const OUTERMOST_SPANS = [65_536, 524_288];
/** How many rows of a list are looked at first, and then, for a text that occurs often. */
const ID_PAGES = [256, 1024];
/** The fewest rows that are looked at first for tags, and the most later. */
const TAG_PAGES = { first: 64, most: 2048 };
/** How many more rows are looked at than their share of the first ones suggests. */
const MARGIN = 1.3;
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

  /** Adds to a scope the times at which the texts that are searched for may occur. */
  async near(
    scope: ReadScope,
    query: ListQuery,
    signal?: AbortSignal,
  ): Promise<{ scope: ReadScope; candidates: Candidates | null }> {
    const withinTraces: (readonly TimeRange[] | undefined)[] = [];
    for (const asked of query.inTracesWith ?? [])
      withinTraces.push((await this.#candidates(scope, asked.search, signal))?.ranges);
    const known = withinTraces.every((each) => each === undefined) ? scope : { ...scope, withinTraces };
    const candidates = await this.#candidates(scope, query.search, signal);
    return { scope: candidates === null ? known : { ...known, within: candidates.ranges }, candidates };
  }

  /** Where a text may be; null: anywhere, or nothing is searched for. */
  async #candidates({ projectId }: ReadScope, text: string | null, signal?: AbortSignal): Promise<Candidates | null> {
    if (text === null) return null;
    return this.#words.candidates(projectId, text, (statement) => this.#rows(statement, { signal }));
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
    if ((query.search === null && query.tags.size === 0) || idsAskedFor(query) !== null) return null;
    const spans = candidates === null ? await this.#spansTagged(scope, query, signal) : candidates.spans;
    if (spans < WORTH_A_LOOK) return null;
    const wanted = query.offset + query.limit;
    const adjacent = query.sort === source.list.defaultSort && query.tags.size === 0;
    const next = query.search === null ? looksForTags(wanted) : looksForText(adjacent);
    const found: string[] = [];
    let looked = 0;
    for (let limit = next(0, 0); limit !== null; limit = next(looked, found.length)) {
      const ids = await this.#idPage(source, scope, { ...query, offset: looked, limit }, signal);
      const holders = new Set(ids.length === 0 ? [] : await this.#ids(idsHolding(source, scope, query, ids), signal));
      found.push(...ids.filter((id) => holders.has(id)));
      if (found.length >= wanted || ids.length < limit) return found.slice(query.offset, wanted);
      looked += limit;
    }
    return null;
  }

  /** About how many spans may have one of the tags that are asked for, as the index has it; without tags: any number. */
  async #spansTagged(scope: ReadScope, query: ListQuery, signal?: AbortSignal): Promise<number> {
    if (query.tags.size === 0) return Infinity;
    return estimated(this.#rows, spansEstimated(scope, query), signal);
  }

  /** Ids of a page, whatever its objects hold. */
  async #idPage(source: ListSource, scope: ReadScope, query: ListQuery, signal?: AbortSignal): Promise<string[]> {
    const any = { ...query, search: null, tags: new Map() };
    let ids: string[] = [];
    for (const access of await accessPaths(this.#rows, source, scope, any, signal)) {
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

/** How many rows to look at next, after so many of which so many were found; null: reading all is quicker. */
type NextLook = (looked: number, found: number) => number | null;

function looksForText(adjacent: boolean): NextLook {
  const pages = (adjacent ? [...ID_PAGES, ...LONG_ID_PAGES] : ID_PAGES).values();
  return () => pages.next().value ?? null;
}

/** How many have a tag is not known beforehand, as it is of words: the first rows tell. */
function looksForTags(wanted: number): NextLook {
  return (looked, found) => {
    const share = looked === 0 ? 1 : found / looked;
    const rest = Math.max(TAG_PAGES.first, Math.ceil(((wanted - found) / share) * MARGIN));
    return rest <= TAG_PAGES.most ? rest : null;
  };
}
