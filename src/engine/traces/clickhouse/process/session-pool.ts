import { ErrorCode, EngineError } from './engine-error.js';
import { identifierLiteral } from '../client/literals.js';
import { settingLiteral } from './literals.js';
import type { Native, NativeConnection, NativeResult } from './native.js';

export type Settings = ReadonlyMap<string, string>;

export interface SessionPoolOptions {
  readonly native: Native;
  /** Data directory, absolute. */
  readonly path: string;
  readonly database: string;
  /** The settings that every session of this pool starts with and returns to. */
  readonly settings: Settings;
  /** Sessions open at once, each running one statement at a time. */
  readonly size: number;
  /** Statements that may wait for a session; one more is refused with code 202. */
  readonly maxWaiting: number;
  /** How long a statement waits for a session before it is refused with code 202. */
  readonly maxWaitMs: number;
  /** A statement that runs longer than this is stuck, ... */
  readonly stuckAfterMs: number;
  /** ... and as many at once mean that the engine hangs. */
  readonly stuckMeansBroken: number;
  /** Called when the engine inside has died or hangs: nothing helps but a new process. */
  onBroken(detail: string): void;
}

/** One statement with what it asks for. */
export interface Run {
  readonly sql: string;
  readonly format: string;
  /** Settings of this statement alone. */
  readonly settings: Settings;
  /** The database, where it is another than the pool's own. */
  readonly database?: string | undefined;
  /** Aborts: a statement that still waits for a session is then not run at all. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the engine is about to get the statement: until then, whatever fails, nothing of it was done. */
  readonly onStart?: (() => void) | undefined;
}

/** A connection, with the database and settings that the last statement left on it. */
interface Session {
  readonly connection: NativeConnection;
  database: string;
  /** Settings beyond those of the pool. */
  settings: Settings;
}

interface Waiting {
  resolve(session: Session): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/**
 * Connections to the engine, one statement at a time on each.
 *
 * - A connection whose statement failed is closed: rows that the statement had already sent stay on it and would be the
 *   first bytes of the next answer.
 * - Settings stick to a connection, and setting them is a statement of its own: a statement gets a connection that has what it
 *   wants, if there is one, as a page takes several statements with settings of their own.
 */
export class SessionPool {
  readonly #options: SessionPoolOptions;
  readonly #setup: string;
  readonly #idle: Session[] = [];
  readonly #waiting: Waiting[] = [];
  #open = 0;
  #busy = 0;
  #stuck = 0;
  #closing = false;
  #whenQuiet: (() => void)[] = [];

  constructor(options: SessionPoolOptions) {
    this.#options = options;
    this.#setup = `USE ${identifierLiteral(options.database)}; ${setStatement(options.settings)}`;
  }

  /** Runs a statement and answers its bytes. */
  async run({ sql, format, settings, database = this.#options.database, signal, onStart }: Run): Promise<NativeResult> {
    const wanted = { settings, database, base: this.#options.settings };
    return this.#withSession(wanted, signal, async (session) => {
      const before = changes(session, wanted);
      session.database = database;
      session.settings = settings;
      onStart?.();
      return this.#options.native.QueryAsyncConnection(session.connection, [...before, sql].join('; '), format);
    });
  }

  /** Refuses waiting statements, waits until running ones have ended, and closes every connection. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const waiting of this.#waiting.splice(0)) {
      clearTimeout(waiting.timer);
      waiting.reject(shuttingDown());
    }
    if (this.#busy > 0) await new Promise<void>((resolve) => this.#whenQuiet.push(resolve));
    for (const session of this.#idle.splice(0)) this.#discard(session);
  }

  async #withSession<T>(
    wanted: Wanted,
    signal: AbortSignal | undefined,
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    const session = await this.#acquire(wanted, signal);
    const notStuck = this.#watch();
    try {
      const result = await work(session);
      this.#release(session);
      return result;
    } catch (error) {
      this.#discard(session);
      this.#freed();
      const failure = EngineError.from(error);
      if (failure.code === ErrorCode.aborted) this.#options.onBroken(failure.message);
      throw failure;
    } finally {
      notStuck();
    }
  }

  /** Watches how long a statement runs. @returns what ends that */
  #watch(): () => void {
    const { stuckAfterMs, stuckMeansBroken, onBroken } = this.#options;
    let isStuck = false;
    const timer = setTimeout(() => {
      isStuck = true;
      this.#stuck += 1;
      if (this.#stuck >= stuckMeansBroken)
        onBroken(`${this.#stuck} statements have not returned for ${stuckAfterMs} ms`);
    }, stuckAfterMs);
    return () => {
      clearTimeout(timer);
      if (isStuck) this.#stuck -= 1;
    };
  }

  async #acquire(wanted: Wanted, signal: AbortSignal | undefined): Promise<Session> {
    if (this.#closing) throw shuttingDown();
    if (signal?.aborted) throw abandoned();
    const idle = this.#takeIdle(wanted);
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

  /** One that is as the statement wants it; while there may be more of them no other one, and then the one that was used least recently. */
  #takeIdle(wanted: Wanted): Session | undefined {
    const ready = this.#idle.findLastIndex((session) => changes(session, wanted).length === 0);
    if (ready >= 0) return this.#idle.splice(ready, 1)[0];
    return this.#open < this.#options.size ? undefined : this.#idle.shift();
  }

  async #connect(): Promise<Session> {
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
      return { connection, database: this.#options.database, settings: new Map() };
    } catch (error) {
      this.#open--;
      this.#freed();
      throw EngineError.from(error);
    }
  }

  #release(session: Session): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      clearTimeout(next.timer);
      next.resolve(session); // stays busy
      return;
    }
    this.#idle.push(session);
    this.#quiet();
  }

  #discard(session: Session): void {
    this.#open--;
    this.#options.native.CloseConnection(session.connection);
  }

  /** Gives a waiting statement a fresh connection in place of one that went away. */
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

/** What a statement wants a session to be like. */
type Wanted = Pick<Session, 'database' | 'settings'> & { readonly base: Settings };

/** The statements that bring a session to what the next statement wants. */
function changes(session: Session, { settings, database, base }: Wanted): string[] {
  const statements: string[] = [];
  if (database !== session.database) statements.push(`USE ${identifierLiteral(database)}`);
  const changed = new Map<string, string | undefined>();
  for (const name of session.settings.keys()) if (!settings.has(name)) changed.set(name, base.get(name));
  for (const [name, value] of settings) if (value !== session.settings.get(name)) changed.set(name, value);
  if (changed.size > 0) statements.push(setStatement(changed));
  return statements;
}

/** @param settings undefined for the engine's own default. */
function setStatement(settings: ReadonlyMap<string, string | undefined>): string {
  const parts = [...settings].map(
    ([name, value]) => `${identifierLiteral(name)} = ${value === undefined ? 'DEFAULT' : settingLiteral(value)}`,
  );
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
