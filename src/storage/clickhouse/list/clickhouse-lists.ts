import type { SessionRead, TraceRead } from '../../../domain/list/fields.js';
import type { Lists, Page } from '../../../domain/list/lists.js';
import { sessionList, traceList } from '../../../domain/list/definitions.js';
import { defaultQuery, type ListQuery } from '../../../domain/list/query.js';
import type { QueryObserver } from '../../../observability/events/storage.js';
import type { ClickHouseClient } from '../client/client.js';
import type { ReadsInProgress } from '../read/reads-in-progress.js';
import type { NotCurrent } from '../rollup/set-aside.js';
import type { WordIndex } from '../search/word-index.js';
import type { Sql } from '../client/sql.js';
import { rollupCount, rollupPage, sessionAskedFor, spanCount, spanPage } from './compile.js';
import { openReader, type Reader, type ReadLimits } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { rootColumns, withRootTexts } from './root-texts.js';
import { accessPaths } from './access-paths.js';
import { ALL, idsAskedFor, type AccessPath } from './rows.js';
import { sessionSource, traceSource, type ListSource } from './sources.js';
import { readState, type StateOf, type StateParts } from './state.js';
import { TextSearch } from './text-search.js';
import { sessionsNamed } from './unsettled.js';

export type { QueryObserver } from '../../../observability/events/storage.js';

export interface ListParts {
  readonly client: ClickHouseClient;
  readonly reads: ReadsInProgress;
  readonly notCurrent: (projectId: string) => NotCurrent;
  readonly words: WordIndex;
  readonly limits: ReadLimits;
  readonly observer: QueryObserver;
}

/** Which list is read, of what, and which traces or sessions that are not current concern it. */
interface ReadOf extends StateOf {
  readonly concerned: keyof NotCurrent;
  readonly signal: AbortSignal | undefined;
}

/** The three lists, read from ClickHouse. */
export class ClickHouseLists implements Lists {
  readonly #reader: Reader;
  readonly #state: StateParts;
  readonly #search: TextSearch;
  readonly #observer: QueryObserver;

  constructor({ client, reads, notCurrent, words, limits, observer }: ListParts) {
    this.#state = { reads, notCurrent };
    this.#observer = observer;
    this.#reader = openReader(client, limits, {
      result_overflow_mode: 'throw',
      // The ids of a page are part of the statement.
      max_query_size: '10000000',
      // These optimizations find nothing in the statements of lists, and are a tenth of what it takes to analyse one.
      optimize_and_compare_chain: 0,
      optimize_extract_common_expressions: 0,
    });
    this.#search = new TextSearch(words, this.#reader.rows);
  }

  spans(projectId: string, query: ListQuery, signal?: AbortSignal): Promise<Page> {
    const ids = idsAskedFor(query, 'trace_id');
    const figures = sessionAskedFor(query) !== null;
    return this.#read({ list: 'spans', concerned: 'stale', projectId, ids, figures, signal }, async (read) => {
      const { scope, candidates } = await this.#search.near(read, query, signal);
      if (candidates?.spans === 0) return nothing(query);
      const total = query.count ? await this.#count(spanCount(scope, query), signal) : null;
      const within = candidates && (await this.#search.firstSpans(scope, query, candidates, signal));
      const page = spanPage(within ? { ...scope, within } : scope, query);
      return { json: await this.#reader.stream(page, { signal }), total };
    });
  }

  traces(projectId: string, query: ListQuery, signal?: AbortSignal): Promise<Page> {
    const ids = query.search === null && query.tags.size === 0 ? idsAskedFor(query) : null;
    return this.#read({ list: 'traces', concerned: 'traces', projectId, ids, signal }, (read) =>
      this.#rollups(traceSource, read, query, signal, (scope, part, access) =>
        this.#tracePage(scope, part, access, signal),
      ),
    );
  }

  sessions(projectId: string, query: ListQuery, signal?: AbortSignal): Promise<Page> {
    return this.#read({ list: 'sessions', concerned: 'sessions', projectId, signal }, async (read) => {
      const fresh = await this.#sessionScope(read, signal);
      return this.#rollups(sessionSource, fresh, query, signal, async (scope, part, access) => {
        const page = await this.#reader.lines(rollupPage(sessionSource, scope, part, access), { signal });
        return page.map(({ row }) => row);
      });
    });
  }

  async tracesById(projectId: string, ids: readonly string[]): Promise<Map<string, TraceRead>> {
    return readState(this.#state, { list: 'traces', projectId, ids }, (scope) =>
      this.#byId(ids, (some) => {
        const query = { ...defaultQuery(traceList), internal: 'included', limit: some.length } as const;
        return this.#tracePage(scope, query, { by: 'ids', ids: some });
      }),
    );
  }

  async sessionsById(projectId: string, ids: readonly string[]): Promise<Map<string, SessionRead>> {
    return readState(this.#state, { list: 'sessions', projectId }, async (read) => {
      const scope = await this.#sessionScope(read);
      return this.#byId(ids, async (some) => {
        const query = { ...defaultQuery(sessionList), limit: some.length };
        const page = rollupPage(sessionSource, scope, query, { by: 'ids', ids: some });
        return (await this.#reader.lines(page)).map(({ row }) => row);
      });
    });
  }

  /** Adds to a scope the sessions that its unsettled traces concern. */
  async #sessionScope(scope: ReadScope, signal?: AbortSignal): Promise<ReadScope> {
    const { unsettled = [], unsettledSessions = [] } = scope;
    const named =
      unsettled.length === 0 ? [] : await this.#reader.rows<{ id: string }>(sessionsNamed(scope), { signal });
    const concerned = new Set([...unsettledSessions, ...named.map(({ id }) => id)]);
    return { ...scope, unsettledSessions: [...concerned] };
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

  async #rollups(
    source: ListSource,
    read: ReadScope,
    query: ListQuery,
    signal: AbortSignal | undefined,
    page: (scope: ReadScope, query: ListQuery, access: AccessPath) => Promise<string[]>,
  ): Promise<Found> {
    const { scope, candidates } = await this.#search.near(read, query, signal);
    if (candidates?.spans === 0) return nothing(query);
    const paths = await accessPaths(this.#reader.rows, source, scope, query, signal);
    const counted = rollupCount(source, scope, query, paths.at(-1) ?? ALL);
    const total = query.count ? await this.#count(counted, signal) : null;
    const first = await this.#search.firstHolding(source, scope, query, candidates, signal);
    const rows =
      first === null
        ? await this.#page(paths, query, (access) => page(scope, query, access))
        : await page(scope, { ...query, search: null, tags: new Map(), offset: 0 }, { by: 'ids', ids: first });
    return { json: Buffer.from(`[${rows.join(',\n')}]`), total };
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

  /** Traces as rendered objects, with input and output of their root spans. */
  async #tracePage(scope: ReadScope, query: ListQuery, access: AccessPath, signal?: AbortSignal): Promise<string[]> {
    const lines = await this.#reader.lines(rollupPage(traceSource, scope, query, access, rootColumns), { signal });
    return withRootTexts(scope.projectId, lines, query.fields, (statement) => this.#reader.rows(statement, { signal }));
  }

  async #count(statement: Sql, signal?: AbortSignal): Promise<number> {
    const [row] = await this.#reader.rows<{ total: string | number }>(statement, { signal });
    return Number(row?.total ?? 0);
  }

  async #read({ concerned, signal, ...state }: ReadOf, read: (scope: ReadScope) => Promise<Found>): Promise<Page> {
    const { list, projectId } = state;
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    const page = async (scope: ReadScope) => {
      const notCurrent = this.#state.notCurrent(projectId)[concerned];
      const found = await read(scope);
      this.#observer.queryFinished({ list, seconds: seconds() });
      return { ...found, notCurrent };
    };
    try {
      return await readState(this.#state, state, page);
    } catch (error) {
      // A client that leaves makes no query fail.
      if (signal?.aborted !== true) this.#observer.queryFailed({ list, seconds: seconds(), error });
      throw error;
    }
  }
}

type Found = Omit<Page, 'notCurrent'>;

function nothing(query: ListQuery): Found {
  return { json: Buffer.from('[]'), total: query.count ? 0 : null };
}

/** Rows read by id in one statement. */
const IDS_AT_ONCE = 500;
