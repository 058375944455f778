import { spanFields, type FieldType, type SessionRead, type TraceRead } from '../model/list/fields.js';
import type { Lists, Page } from '../model/list/lists.js';
import { sessionList, traceList } from '../model/list/definitions.js';
import { defaultQuery, type ListQuery } from '../model/list/query.js';
import { sql, type Sql } from '../clickhouse/client/sql.js';
import type { JsonLine } from '../read/json-rows.js';
import {
  countOf,
  idPage,
  rollupMatches,
  rollupPage,
  spanMatches,
  spanLines,
  spanPage,
  spanPageAt,
  spanPlaces,
  type Matches,
  type SpanPlace,
} from './compile.js';
import type { ReadScope } from '../read/scope.js';
import { rootColumns, withRootTexts } from './root-texts.js';
import { accessPaths } from './access-paths.js';
import type { Found, ListReads } from './list-reads.js';
import { ALL, type AccessPath } from './rows.js';
import { knowsRepeated } from './score-filters.js';
import { showsScores, withoutScores } from './shown-scores.js';
import { FOUND_BY_VALUE, hasStoredOrder, isJoined, type TopScores } from './top-scores.js';
import { sessionSource, spanSource, traceSource, type ListSource } from './sources.js';
import { readState } from './state.js';

/** The three lists, read from ClickHouse. */
export class ClickHouseLists implements Lists {
  readonly #reads: ListReads;

  constructor(reads: ListReads) {
    this.#reads = reads;
  }

  spans(projectId: string, query: ListQuery, signal?: AbortSignal): Promise<Page> {
    return this.#reads.read({ source: spanSource, projectId, query, signal }, async ({ scope, candidates }) => {
      if (candidates?.spans === 0) return nothing(query);
      const total = query.count ? await this.#count(spanMatches(scope, query), signal) : null;
      const within = candidates && (await this.#reads.search.firstSpans(scope, query, candidates, signal));
      return { json: await this.#spans(within ? { ...scope, within } : scope, query, signal), total };
    });
  }

  traces(projectId: string, query: ListQuery, signal?: AbortSignal): Promise<Page> {
    return this.#reads.read({ source: traceSource, projectId, query, signal }, (found) =>
      this.#rollups(traceSource, found, query, signal, (scope, part, access) =>
        this.#tracePage(scope, part, access, signal),
      ),
    );
  }

  sessions(projectId: string, query: ListQuery, signal?: AbortSignal): Promise<Page> {
    return this.#reads.read({ source: sessionSource, projectId, query, signal }, (found) =>
      this.#rollups(sessionSource, found, query, signal, async (scope, part, access) => {
        const statement = rollupPage(sessionSource, scope, withoutScores(part), access, [ID]);
        return this.#scored(
          sessionSource,
          scope,
          part,
          await this.#reads.reader.lines(statement, { signal }),
          0,
          signal,
        );
      }),
    );
  }

  async tracesById(projectId: string, ids: readonly string[]): Promise<Map<string, TraceRead>> {
    return readState(this.#reads.state, { list: 'traces', projectId, ids }, (scope) =>
      this.#byId(ids, (some) => {
        const all = { internal: 'included', experiments: 'included' } as const;
        const query = { ...defaultQuery(traceList), ...all, limit: some.length };
        return this.#tracePage(scope, query, { by: 'ids', ids: some });
      }),
    );
  }

  async sessionsById(projectId: string, ids: readonly string[]): Promise<Map<string, SessionRead>> {
    return readState(this.#reads.state, { list: 'sessions', projectId }, async (read) => {
      const scope = await this.#reads.sessionScope(read);
      return this.#byId(ids, async (some) => {
        const query = { ...defaultQuery(sessionList), limit: some.length };
        const page = rollupPage(sessionSource, scope, query, { by: 'ids', ids: some });
        return (await this.#reads.reader.lines(page)).map(({ row }) => row);
      });
    });
  }

  async #byId<T extends { id: string }>(ids: readonly string[], read: (ids: readonly string[]) => Promise<string[]>) {
    const found = new Map<string, T>();
    for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
      for (const row of await read(ids.slice(from, from + IDS_AT_ONCE))) {
        const object = JSON.parse(row) as T;
        found.set(object.id, object);
      }
    }
    return found;
  }

  /** A page of spans as JSON. */
  async #spans(scope: ReadScope, query: ListQuery, signal?: AbortSignal): Promise<Page['json']> {
    const places = await this.#spanPlaces(scope, query, signal);
    if (places?.length === 0) return NO_ROWS;
    const { reader } = this.#reads;
    const settings = query.scores.size === 0 ? {} : { settings: FOUND_BY_VALUE };
    if (places === null && showsScores(query)) {
      const page = await reader.lines(spanLines(scope, withoutScores(query), [ID]), { signal, ...settings });
      return jsonArrayOf(await this.#scored(spanSource, scope, query, page, 0, signal));
    }
    return places === null
      ? reader.stream(spanPage(scope, query), { signal, ...settings })
      : reader.stream(spanPageAt(scope, query, places), { signal });
  }

  /** Where the spans of a page are, if they are looked for before what is shown of them; else null. */
  async #spanPlaces(scope: ReadScope, query: ListQuery, signal?: AbortSignal): Promise<readonly SpanPlace[] | null> {
    const read = (part: ListQuery, top?: TopScores, further?: readonly Sql[]) =>
      this.#reads.reader.rows<SpanPlace>(spanPlaces(scope, part, top, further), { signal });
    const sorted = await this.#reads.topScores.page(spanSource, scope, query, read, signal);
    if (sorted !== null) return sorted;
    const found = knowsRepeated(scope, query)
      ? null
      : await this.#reads.scoreFilters.page(scope, query, (part, ever) => read(part, undefined, ever), signal);
    // Rows with large texts are not held in memory.
    return found ?? (showsScores(query) && showsTexts(query) ? read(query) : null);
  }

  async #rollups(
    source: ListSource,
    { scope, candidates }: Found,
    query: ListQuery,
    signal: AbortSignal | undefined,
    page: ReadPage,
  ): Promise<Rows> {
    if (candidates?.spans === 0) return nothing(query);
    const paths = await accessPaths(this.#reads.reader.rows, source, scope, query, signal);
    const counted = rollupMatches(source, scope, query, paths.at(-1) ?? ALL);
    const total = query.count ? await this.#count(counted, signal) : null;
    const held = await this.#reads.search.firstHolding(source, scope, query, candidates, signal);
    const first = held === null ? await this.#first(source, scope, query, page, signal) : { ids: held };
    if (first !== null && 'rows' in first) return { json: jsonArrayOf(first.rows), total };
    const rows =
      first === null
        ? await this.#page(paths, query, (access) => page(scope, query, access))
        : await page(scope, query, { by: 'ids', ids: first.ids, arePage: true });
    return { json: jsonArrayOf(rows), total };
  }

  /** The rows of a page that is sorted by scores, or their ids; null: it is not, or not among the first of these. */
  async #first(source: ListSource, scope: ReadScope, query: ListQuery, page: ReadPage, signal?: AbortSignal) {
    const { topScores } = this.#reads;
    if (isJoined(source, scope, query)) return null;
    if (!hasStoredOrder(source, scope, query)) {
      const idsOf = (part: ListQuery, top: TopScores) =>
        this.#ids(idPage(source, scope, part, { by: 'ids', ids: top.ids }, top), signal);
      const ids = await topScores.page(source, scope, query, idsOf, signal);
      return ids && { ids };
    }
    const reached = ({ ids }: TopScores): AccessPath => ({ by: 'ids', ids, inOrder: true });
    if (query.offset === 0) {
      const rows = await topScores.page(source, scope, query, (part, top) => page(scope, part, reached(top)), signal);
      return rows && { rows };
    }
    const idsOf = (part: ListQuery, top: TopScores) => this.#ids(idPage(source, scope, part, reached(top)), signal);
    const ids = await topScores.page(source, scope, query, idsOf, signal);
    return ids && { ids };
  }

  async #page(
    paths: readonly AccessPath[],
    query: ListQuery,
    page: (access: AccessPath) => Promise<string[]>,
  ): Promise<string[]> {
    let rows: string[] = [];
    for (const access of paths) {
      rows = await page(access);
      if (rows.length >= query.limit) break;
    }
    return rows;
  }

  /** Traces as rendered objects, with input, output and error of their root spans. */
  async #tracePage(scope: ReadScope, query: ListQuery, access: AccessPath, signal?: AbortSignal): Promise<string[]> {
    const statement = rollupPage(traceSource, scope, withoutScores(query), access, [...rootColumns, ID]);
    const lines = await this.#reads.reader.lines(statement, { signal });
    const read = <T>(roots: Sql) => this.#reads.reader.rows<T>(roots, { signal });
    const rows = await withRootTexts(scope.projectId, lines, query, read);
    const rooted = lines.map(({ extra }, index) => ({ extra, row: rows[index] ?? '{}' }));
    return this.#scored(traceSource, scope, query, rooted, rootColumns.length, signal);
  }

  /** Rows as JSON objects, with their scores if these are shown. @param place of the id among the extra columns */
  #scored(
    source: ListSource,
    scope: ReadScope,
    query: ListQuery,
    lines: readonly JsonLine[],
    place: number,
    signal?: AbortSignal,
  ): Promise<string[]> {
    const rows = lines.map(({ row, extra }) => ({ row, id: extra[place] ?? '' }));
    const { shownScores, reader } = this.#reads;
    return shownScores.with(source, scope, query, rows, (statement, options) =>
      reader.rows(statement, { ...options, signal }),
    );
  }

  async #ids(statement: Sql, signal?: AbortSignal): Promise<string[]> {
    const rows = await this.#reads.reader.rows<{ id: string }>(statement, { signal });
    return rows.map(({ id }) => id);
  }

  async #count(matches: Matches, signal?: AbortSignal): Promise<number> {
    const [row] = await this.#reads.reader.rows<{ total: string | number }>(countOf(matches), { signal });
    return Number(row?.total ?? 0);
  }
}

/** What a page selects beside its fields. */
const ID = sql`toString(id)`;

/** Texts of spans that are no longer than names. */
const SHORT_TEXTS: ReadonlySet<string> = new Set([
  'name',
  'session_name',
  'project_id',
  'provider',
  'model',
  'prompt_slug',
]);
const LARGE_TYPES: ReadonlySet<string> = new Set(['text', 'tags', 'json'] satisfies FieldType[]);

/** Whether rows of spans may be of any size. */
function showsTexts({ fields }: ListQuery): boolean {
  const large = Object.entries(spanFields).filter(
    ([name, { type }]) => LARGE_TYPES.has(type) && !SHORT_TEXTS.has(name),
  );
  return large.some(([name]) => fields?.includes(name) ?? true);
}

type Rows = Omit<Page, 'notCurrent'>;

/** Reads rows of a page as rendered objects. */
type ReadPage = (scope: ReadScope, query: ListQuery, access: AccessPath) => Promise<string[]>;

const jsonArrayOf = (rows: readonly string[]) => Buffer.from(`[${rows.join(',\n')}]`);

const NO_ROWS = Buffer.from('[]');

function nothing(query: ListQuery): Rows {
  return { json: NO_ROWS, total: query.count ? 0 : null };
}

/** Rows read by id in one statement. */
const IDS_AT_ONCE = 500;
