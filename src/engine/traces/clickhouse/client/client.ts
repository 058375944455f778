import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ClickHouseClient as Library, ClickHouseSettings } from '@clickhouse/client';
import type { FairSemaphore } from '../../../work/fair-semaphore.js';
import { AbandonedReads } from './abandoned-reads.js';
import { clickHouseFailure, insertFailure, isDiskFull } from './client-errors.js';
import { drained } from './drained.js';
import type { ClickHouseEndpoint } from './endpoint.js';
import { LoopbackConnection } from './loopback.js';
import { join, literal, quotedIdentifier, sql, value, type Sql } from './sql.js';

export { InsertError } from './client-errors.js';
export type { ClickHouseEndpoint } from './endpoint.js';

export interface ClientOptions {
  /** Settings of every statement. */
  readonly settings?: ClickHouseSettings;
  /** Timeout of a request, default 60,000; above the time limit of reads, so that ClickHouse's own answer comes first. */
  readonly requestTimeoutMs?: number;
  /** The most connections of each kind: for reads, for inserts, and for the rest. Default 32. */
  readonly maxConnections?: number;
  /** Whether a connection serves further statements; default: it does. */
  readonly reuseConnections?: boolean;
  /** Whose turn it is to read, of the projects that statements name; default: no one waits. */
  readonly turns?: FairSemaphore;
  /** Called when a statement has failed for want of room on ClickHouse's disk. */
  readonly onDiskFull?: () => void;
  /** Whether gzip is used both ways; default off, as within one machine it costs more than it saves. */
  readonly compress?: boolean;
}

export interface QueryOptions {
  /** Settings of this statement alone. */
  readonly settings?: ClickHouseSettings;
  readonly signal?: AbortSignal;
}

export interface InsertOptions extends QueryOptions {
  /** A SELECT from ClickHouse's `input()` that the rows go through; default: they are stored as they are. */
  readonly through?: Sql;
}

const FORMATS = {
  RowBinary: sql`RowBinary`,
  Native: sql`Native`,
  JSONEachRow: sql`JSONEachRow`,
  JSONCompactEachRow: sql`JSONCompactEachRow`,
} satisfies Record<string, Sql>;

export type InsertFormat = keyof typeof FORMATS;

/**
 * Settings of every statement: what newer versions of ClickHouse do by default, and have answered wrongly by. Its cache of granules without a match
 * takes what a join left out for what the condition did (26.7, https://github.com/ClickHouse/ClickHouse/pull/119823). By virtual rows, reads in
 * the order of a key of which conditions fix columns are merged in another order (26.8, https://github.com/ClickHouse/ClickHouse/pull/111457).
 */
const EXACT: ClickHouseSettings = { use_query_condition_cache: 0, read_in_order_use_virtual_row: 0 };

/**
 * ClickHouse over HTTP, embedded or remote alike.
 *
 * Reads, inserts and the rest have connections of their own: an answer that its reader takes slowly keeps its connection
 * for as long, and must not keep anybody from writing.
 *
 * Every method throws a DomainError: `overloaded` when it has not become the project's turn in time; `unavailable` when
 * ClickHouse does not answer, is restarting, is overloaded, or the statement met a limit of time, memory or size;
 * `internal` for all else, with the library's error as `cause`. A caller's own abort comes out as its signal's reason; that of a
 * read kills the statement, and comes out once ClickHouse has answered.
 */
export interface ClickHouseClient {
  /** Rows of a SELECT (without FORMAT), parsed from JSONEachRow. One that reads a project waits until it is its turn. */
  query<T>(statement: Sql, options?: QueryOptions): Promise<T[]>;
  /** Raw bytes of a SELECT in the FORMAT that it names. Waits for a turn as `query` does. */
  stream(statement: Sql, options?: QueryOptions): Promise<Readable>;
  /** The answer of a SELECT as a text, in the FORMAT that it names. Waits for a turn as `query` does. */
  text(statement: Sql, options?: QueryOptions): Promise<string>;
  /**
   * Inserts rows already encoded, in one request and as they are.
   *
   * @throws InsertError which also says whether rows may have been stored.
   */
  insert(
    table: string,
    columns: readonly string[],
    format: InsertFormat,
    rows: Buffer | readonly Buffer[],
    options?: InsertOptions,
  ): Promise<void>;
  /** DDL, mutations, INSERT SELECT: no rows come back. */
  command(statement: Sql, options?: QueryOptions): Promise<void>;
  /** Whether ClickHouse answers a SELECT, within 5 s. */
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

export function connect(endpoint: ClickHouseEndpoint, options: ClientOptions = {}): ClickHouseClient {
  const timeoutMs = options.requestTimeoutMs ?? 60_000;
  const maxConnections = options.maxConnections ?? 32;
  const open = (): Library =>
    createClient({
      url: endpoint.url,
      username: endpoint.username,
      password: endpoint.password,
      database: endpoint.database,
      request_timeout: timeoutMs,
      max_open_connections: maxConnections,
      keep_alive: { enabled: options.reuseConnections ?? true },
      ...(endpoint.socketPath !== undefined && {
        connection: new LoopbackConnection(endpoint, { timeoutMs, maxConnections }),
      }),
      compression: { request: options.compress ?? false, response: options.compress ?? false },
      clickhouse_settings: { ...EXACT, ...options.settings },
      log: { level: ClickHouseLogLevel.OFF },
    });
  return new HttpClient({ reads: open(), inserts: open(), commands: open() }, options);
}

interface Libraries {
  readonly reads: Library;
  readonly inserts: Library;
  readonly commands: Library;
}

/**
 * Settings of every write: acknowledged means stored, and stored however often it is sent. By default ClickHouse takes
 * equal blocks for repetitions of one insert, also in views, so that a trace or session inserted again into `touch_traces`
 * or `touch_sessions` would not be recomputed. Which of these settings a server has, and which then counts, differs by
 * version; one that it does not know it refuses.
 */
const WRITE_SETTINGS: ClickHouseSettings = {
  async_insert: 0,
  insert_deduplicate: 0,
  deduplicate_blocks_in_dependent_materialized_views: 0,
  deduplicate_insert: 'disable',
  deduplicate_insert_select: 'disable',
};

const PING_TIMEOUT_MS = 5_000;

/** Has an answer begin once its statement has ended, as those of the embedded engine do, so that a turn can end with it. */
const WHOLE: ClickHouseSettings = { wait_end_of_query: 1 };

class HttpClient implements ClickHouseClient {
  readonly #libraries: Libraries;
  readonly #turns: FairSemaphore | undefined;
  readonly #onDiskFull: () => void;
  readonly #abandoned = new AbandonedReads({ kill: (beginning) => this.#kill(beginning) });
  #writeSettings: Promise<ClickHouseSettings> | undefined;

  constructor(libraries: Libraries, { turns, onDiskFull }: Pick<ClientOptions, 'turns' | 'onDiskFull'>) {
    this.#libraries = libraries;
    this.#turns = turns;
    this.#onDiskFull = onDiskFull ?? (() => undefined);
  }

  async query<T>(statement: Sql, options: QueryOptions = {}): Promise<T[]> {
    return this.#read(statement, options, async (sent) => {
      const result = await this.#libraries.reads.query({ ...sent, format: 'JSONEachRow' });
      return result.json<T>();
    });
  }

  async stream(statement: Sql, options: QueryOptions = {}): Promise<Readable> {
    const { signal } = options;
    return this.#read(statement, options, async (sent) => {
      const { stream } = await this.#libraries.reads.exec(sent);
      const left = () => void stream.destroy();
      if (signal?.aborted === true) left();
      else signal?.addEventListener('abort', left, { once: true });
      return stream;
    });
  }

  async text(statement: Sql, options: QueryOptions = {}): Promise<string> {
    return this.#read(statement, options, async (sent) => {
      const { stream } = await this.#libraries.reads.exec(sent);
      return text(stream);
    });
  }

  async insert(
    table: string,
    columns: readonly string[],
    format: InsertFormat,
    rows: Buffer | readonly Buffer[],
    { through, ...options }: InsertOptions = {},
  ): Promise<void> {
    options.signal?.throwIfAborted();
    const select = through === undefined ? sql`` : sql`${through} `;
    const names = join(columns.map(quotedIdentifier), ', ');
    const statement = sql`INSERT INTO ${quotedIdentifier(table)} (${names}) ${select}FORMAT ${FORMATS[format]}`;
    try {
      const settings = await this.#forWrites(options.settings);
      const { stream } = await this.#libraries.inserts.exec({
        ...toLibrary(statement, { ...options, settings }),
        // Each piece is read by itself: more than one in the stream's buffer would be put together.
        values: Readable.from(Buffer.isBuffer(rows) ? [rows] : rows, { objectMode: false, highWaterMark: 1 }),
      });
      await drained(stream);
    } catch (error) {
      const failure = insertFailure(error);
      if (isDiskFull(failure)) this.#onDiskFull();
      throw failure;
    }
  }

  async command(statement: Sql, options: QueryOptions = {}): Promise<void> {
    options.signal?.throwIfAborted();
    await this.#attempt(options.signal, async () => {
      const settings = await this.#forWrites(options.settings);
      await this.#libraries.commands.command(toLibrary(statement, { ...options, settings }));
    });
  }

  async ping(): Promise<boolean> {
    // One that hangs keeps no connection from the next.
    const abort_signal = AbortSignal.timeout(PING_TIMEOUT_MS);
    const { success } = await this.#libraries.commands.ping({ select: true, abort_signal });
    return success;
  }

  async close(): Promise<void> {
    this.#abandoned.close();
    await Promise.all(Object.values(this.#libraries).map((library: Library) => library.close()));
  }

  /**
   * Runs a read when it is its project's turn, which ends with the statement: however long its answer is then read, and not
   * before ClickHouse has stopped working on it, should its caller leave.
   */
  async #read<T>(statement: Sql, { signal, settings }: QueryOptions, work: (sent: Sent) => Promise<T>): Promise<T> {
    const { project } = statement;
    const turns = project === undefined ? undefined : this.#turns;
    signal?.throwIfAborted();
    const sent = toLibrary(statement, { settings: { ...(turns && WHOLE), ...settings } });
    if (turns === undefined && signal === undefined) return this.#attempt(signal, () => work(sent));
    const onEnded = project === undefined || turns === undefined ? () => undefined : await turns.take(project, signal);
    const send = (mark: string) => work({ ...sent, query: `${mark} ${sent.query}` });
    return this.#attempt(signal, () => this.#abandoned.run({ send, signal, onEnded }));
  }

  async #kill(beginning: string): Promise<boolean> {
    const { query } = toLibrary(
      sql`KILL QUERY WHERE startsWith(query, ${literal(beginning)}) ASYNC FORMAT JSONEachRow`,
    );
    const { stream } = await this.#libraries.commands.exec({ query });
    return (await text(stream)) !== '';
  }

  /** A statement's own settings beside those of every write that this ClickHouse knows. */
  async #forWrites(own: ClickHouseSettings = {}): Promise<ClickHouseSettings> {
    try {
      return { ...(await (this.#writeSettings ??= this.#knownWriteSettings())), ...own };
    } catch (error) {
      this.#writeSettings = undefined;
      throw error;
    }
  }

  async #knownWriteSettings(): Promise<ClickHouseSettings> {
    const names = value(Object.keys(WRITE_SETTINGS), 'Array(String)');
    const statement = sql`SELECT name FROM system.settings WHERE name IN ${names}`;
    const result = await this.#libraries.commands.query({ ...toLibrary(statement), format: 'JSONEachRow' });
    const known = await result.json<{ name: string }>();
    return Object.fromEntries(known.map(({ name }) => [name, WRITE_SETTINGS[name]]));
  }

  async #attempt<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      const failure = clickHouseFailure(error);
      if (isDiskFull(failure)) this.#onDiskFull();
      throw failure;
    }
  }
}

/** A statement as the library takes it. */
interface Sent {
  readonly query: string;
  readonly query_params: Record<string, unknown>;
  readonly clickhouse_settings?: ClickHouseSettings;
  readonly abort_signal?: AbortSignal;
}

function toLibrary(statement: Sql, { settings, signal }: QueryOptions = {}): Sent {
  const { text, params } = statement.render();
  return {
    query: text,
    query_params: params,
    ...(settings === undefined ? {} : { clickhouse_settings: settings }),
    ...(signal === undefined ? {} : { abort_signal: signal }),
  };
}
