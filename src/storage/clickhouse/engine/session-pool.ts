import { ErrorCode, EngineError } from './engine-error.js';
import { identifierLiteral, settingLiteral } from './literals.js';
import type { Native, NativeConnection, NativeResult } from './native.js';

export type Settings = ReadonlyMap<string, string>;

export interface SessionPoolOptions {
  readonly native: Native;
  /** Data directory, absolute. */
  readonly path: string;
  readonly database: string;
  /** What every session of this pool starts with and returns to. */
  readonly settings: Settings;
  /** Sessions open at once, each running one statement at a time. */
  readonly size: number;
  /** Statements that may wait for a session; one more is refused with code 202. */
  readonly maxWaiting: number;
  /** How long a statement waits for a session before it is refused with code 202. */
  readonly maxWaitMs: number;
  /** A statement that runs longer than this means that the engine hangs. */
  readonly stuckAfterMs: number;
  /** Told when the engine inside has died or hangs: nothing helps but a new process. */
  onBroken(detail: string): void;
}

/** One statement with what it asks for. */
export interface Run {
  readonly sql: string;
  readonly format: string;
  /** Settings of this statement alone. */
  readonly settings: Settings;
  /** Another database than the pool's own. */
  readonly database?: string | undefined;
  /** Aborted while the statement still waits for a session, it is not run at all. */
  readonly signal?: AbortSignal | undefined;
}

interface Waiting {
  resolve(connection: NativeConnection): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/**
 * Connections to the engine, one statement at a time on each.
 *
 * - A connection whose statement failed is closed: rows that the statement had already sent stay on it and would be the
 *   first bytes of the next answer.
 * - Settings stick to a connection: those of a statement are taken back before the connection is used again.
 */
export class SessionPool {
  readonly #options: SessionPoolOptions;
  readonly #setup: string;
  readonly #idle: NativeConnection[] = [];
  readonly #waiting: Waiting[] = [];
  #open = 0;
  #busy = 0;
  #closing = false;
  #whenQuiet: (() => void)[] = [];

  constructor(options: SessionPoolOptions) {
    this.#options = options;
    this.#setup = `USE ${identifierLiteral(options.database)}; ${setStatement(options.settings)}`;
  }

  /** Runs a statement and answers its bytes. */
  async run({ sql, format, settings, database, signal }: Run): Promise<NativeResult> {
    const before: string[] = [];
    const after: string[] = [];
    if (database !== undefined && database !== this.#options.database) {
      before.push(`USE ${identifierLiteral(database)}`);
      after.push(`USE ${identifierLiteral(this.#options.database)}`);
    }
    if (settings.size > 0) {
      before.push(setStatement(settings));
      after.push(resetStatement(settings, this.#options.settings));
    }
    return this.#withConnection(
      async (connection) => {
        const text = before.length === 0 ? sql : `${before.join('; ')}; ${sql}`;
        return this.#options.native.QueryAsyncConnection(connection, text, format);
      },
      { after, signal },
    );
  }

  /** Waits until what runs has ended, refuses the rest, and closes every connection. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const waiting of this.#waiting.splice(0)) {
      clearTimeout(waiting.timer);
      waiting.reject(shuttingDown());
    }
    if (this.#busy > 0) await new Promise<void>((resolve) => this.#whenQuiet.push(resolve));
    for (const connection of this.#idle.splice(0)) this.#discard(connection);
  }

  async #withConnection<T>(
    work: (connection: NativeConnection) => Promise<T>,
    { after = [], signal }: { after?: readonly string[]; signal?: AbortSignal | undefined } = {},
  ): Promise<T> {
    const connection = await this.#acquire(signal);
    const stuck = setTimeout(
      () => this.#options.onBroken(`a statement has not come back for ${this.#options.stuckAfterMs} ms`),
      this.#options.stuckAfterMs,
    );
    try {
      const result = await work(connection);
      if (after.length === 0) this.#release(connection);
      else void this.#restore(connection, after);
      return result;
    } catch (error) {
      this.#discard(connection);
      this.#freed();
      const failure = EngineError.from(error);
      if (failure.code === ErrorCode.aborted) this.#options.onBroken(failure.message);
      throw failure;
    } finally {
      clearTimeout(stuck);
    }
  }

  async #acquire(signal: AbortSignal | undefined): Promise<NativeConnection> {
    if (this.#closing) throw shuttingDown();
    if (signal?.aborted) throw abandoned();
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      this.#busy++;
      return idle;
    }
    if (this.#open < this.#options.size) return this.#connect();
    if (this.#waiting.length >= this.#options.maxWaiting) throw tooMany('the queue is full');
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        resolve,
        reject,
        timer: setTimeout(
          () => leave(tooMany(`waited ${this.#options.maxWaitMs} ms for others to end`)),
          this.#options.maxWaitMs,
        ),
      };
      const leave = (error: Error): void => {
        const at = this.#waiting.indexOf(waiting);
        if (at < 0) return;
        this.#waiting.splice(at, 1);
        clearTimeout(waiting.timer);
        reject(error);
      };
      signal?.addEventListener('abort', () => leave(abandoned()), { once: true });
      this.#waiting.push(waiting);
    });
  }

  async #connect(): Promise<NativeConnection> {
    this.#open++;
    this.#busy++;
    try {
      const connection = this.#options.native.CreateConnection(this.#options.path);
      try {
        await this.#options.native.QueryAsyncConnection(connection, this.#setup, 'Null');
      } catch (error) {
        this.#options.native.CloseConnection(connection);
        throw error;
      }
      return connection;
    } catch (error) {
      this.#open--;
      this.#freed();
      throw EngineError.from(error);
    }
  }

  /** Off the request's path: its answer is on the way when the settings are taken back. */
  async #restore(connection: NativeConnection, statements: readonly string[]): Promise<void> {
    try {
      await this.#options.native.QueryAsyncConnection(connection, statements.join('; '), 'Null');
      this.#release(connection);
    } catch {
      this.#discard(connection);
      this.#freed();
    }
  }

  #release(connection: NativeConnection): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      clearTimeout(next.timer);
      next.resolve(connection); // stays busy
      return;
    }
    this.#idle.push(connection);
    this.#quiet();
  }

  #discard(connection: NativeConnection): void {
    this.#open--;
    this.#options.native.CloseConnection(connection);
  }

  /** After a connection went away: one who waits gets a fresh one in its place. */
  #freed(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      clearTimeout(next.timer);
      this.#connect().then(next.resolve, next.reject);
    }
    this.#quiet();
  }

  #quiet(): void {
    this.#busy--;
    if (this.#busy === 0) for (const resolve of this.#whenQuiet.splice(0)) resolve();
  }
}

function setStatement(settings: Settings): string {
  return `SET ${[...settings].map(([name, value]) => `${identifierLiteral(name)} = ${settingLiteral(value)}`).join(', ')}`;
}

function resetStatement(used: Settings, base: Settings): string {
  const parts = [...used.keys()].map((name) => {
    const value = base.get(name);
    return `${identifierLiteral(name)} = ${value === undefined ? 'DEFAULT' : settingLiteral(value)}`;
  });
  return `SET ${parts.join(', ')}`;
}

/** The SETTINGS clause of an INSERT; a clause does not stick to the connection. */
export function settingsClause(settings: Settings): string {
  return `SETTINGS ${[...settings].map(([name, value]) => `${identifierLiteral(name)} = ${settingLiteral(value)}`).join(', ')}`;
}

function tooMany(detail: string): EngineError {
  return EngineError.of(
    ErrorCode.tooManySimultaneousQueries,
    `Too many simultaneous queries: ${detail}.`,
    'TOO_MANY_SIMULTANEOUS_QUERIES',
  );
}

function abandoned(): EngineError {
  return EngineError.of(
    ErrorCode.queryWasCancelled,
    'Query was cancelled: its client went away.',
    'QUERY_WAS_CANCELLED',
  );
}

function shuttingDown(): EngineError {
  return EngineError.of(ErrorCode.aborted, 'The engine is shutting down.', 'ABORTED');
}
