import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../../errors.js';
import { RETRIES, retryDelay } from '../../../work/backoff.js';
import { EngineChild } from './child.js';
import { EngineLockedError } from './engine.js';
import type { ClickHouseEndpoint, EngineOptions, EngineState } from './engine.js';
import { privateSocket, type PrivateSocket } from '../../../files/private-socket.js';
import { THREADS } from './threads.js';

export { EngineLockedError } from './engine.js';
export type { ClickHouseEndpoint, EngineLogger, EngineOptions, EngineState } from './engine.js';

/** After a process has lived so long, its crash counts as the first in a row again. */
const STABLE_AFTER_MS = 30_000;
const STOP_DEADLINE_MS = 8_000;
/**
 * The engine of a server that was killed ends by itself a moment after it, or as soon as it has opened its data, which keeps
 * its event loop for seconds on a busy machine: only a lock held longer is someone else's.
 */
const LOCK_WAIT_MS = 10_000;
const LOCK_RETRY_MS = 100;

/**
 * Starts the engine process on `path` and keeps it alive. Resolves when it is ready for requests.
 *
 * Failures that are noticed, and when: death of the process: at once; a stopped process or a blocked event loop: within 2 s
 * (unanswered beats, see {@link EngineChild}); a crash inside the engine that leaves the event loop alive: by the next
 * statement, at the latest the SELECT 1 of every second (all fail with ABORTED from then on); a hang inside the engine:
 * after 10 s without an answer to SELECT 1, or when all reads at once outlive their time limit by 15 s. Then SIGKILL and
 * restart. Heavy work is no reason: statements run on other threads than the event loop. Nor is a single row that takes
 * long, between whose beginning and end the engine looks at no limit.
 *
 * @throws EngineLockedError when another process has the directory open.
 * @throws DomainError `unavailable` when the engine does not start.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const path = resolve(options.path);
  await mkdir(path, { recursive: true, mode: 0o700 });
  const socket = await privateSocket(path, 'engine.sock');
  const supervisor = new Supervisor({ ...options, path }, socket);
  await supervisor.start();
  return supervisor;
}

/** A running embedded engine. */
export type Engine = Omit<Supervisor, 'start'>;

class Supervisor {
  readonly #options: EngineOptions;
  readonly #password = randomBytes(32).toString('base64url');
  readonly #callbacks: ((endpoint: ClickHouseEndpoint) => Promise<void>)[] = [];
  readonly #socket: PrivateSocket;
  #state: EngineState = 'starting';
  #restarts = 0;
  #failures = 0;
  #child: EngineChild | undefined;
  #retry: NodeJS.Timeout | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: EngineOptions, socket: PrivateSocket) {
    this.#options = options;
    this.#socket = socket;
    if (options.onReady !== undefined)
      this.#callbacks.push((endpoint) => options.onReady?.(endpoint) ?? Promise.resolve());
  }

  /** Where the engine answers; stays the same over restarts. */
  get endpoint(): ClickHouseEndpoint {
    return {
      url: 'http://localhost',
      username: 'spanhouse',
      password: this.#password,
      database: this.#options.database,
      socketPath: this.#socket.path,
    };
  }

  get state(): EngineState {
    return this.#state;
  }

  /** Restarts since the start of this process. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Process id of the engine; undefined between two lives. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Adds a callback to run after every restart, when the engine answers but before `state` is `ready`, for what must be done
   * before anyone reads (recovery). One that throws makes it a failed start, which is tried again.
   */
  onReady(callback: (endpoint: ClickHouseEndpoint) => Promise<void>): void {
    this.#callbacks.push(callback);
  }

  /** Starts the engine for the first time; when that fails, it is the caller's matter. */
  async start(): Promise<void> {
    const deadline = performance.now() + LOCK_WAIT_MS;
    for (;;) {
      try {
        await this.#launch();
        return;
      } catch (error) {
        await this.#child?.kill('the start failed');
        if (error instanceof EngineLockedError && performance.now() < deadline) {
          await sleep(LOCK_RETRY_MS);
          continue;
        }
        this.#enter('failed');
        // In a directory that another process has locked, the socket is that one's.
        if (!(error instanceof EngineLockedError)) await this.#socket.remove();
        throw error instanceof DomainError
          ? error
          : new DomainError('unavailable', `cannot start the engine: ${messageOf(error)}`, { cause: error });
      }
    }
  }

  /** Lets running inserts end, closes the data and ends the process, at the latest after 8 s. Idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#retry);
    this.#enter('stopped');
    await this.#child?.stop(STOP_DEADLINE_MS);
    await this.#socket.remove();
  }

  async #launch(): Promise<void> {
    const { path, database, memoryMb, maxReadSeconds, logger } = this.#options;
    const from = Date.now();
    this.#enter('starting');
    const child = new EngineChild(forkEngine(path), logger);
    this.#child = child;
    const opened = await child.open(
      {
        type: 'open',
        path,
        database,
        username: this.endpoint.username,
        password: this.#password,
        socketPath: this.#socket.path,
        memoryMb,
        maxReadSeconds,
      },
      this.#options.startDeadlineMs ?? 60_000,
    );
    child.whenGone((reason) => this.#gone(child, reason, Date.now() - from));
    await this.#prepare(child);
    if (this.#stopping !== undefined) return;
    this.#enter('ready');
    logger.info('Engine process ready', {
      engine_version: opened.version,
      pid: child.pid,
      start_ms: Date.now() - from,
    });
  }

  async #prepare(child: EngineChild): Promise<void> {
    const gone = new Promise<never>((_, reject) => {
      child.whenGone((reason) => reject(new Error(`the engine died during startup: ${reason}`)));
    });
    const run = async (): Promise<void> => {
      for (const callback of this.#callbacks) await callback(this.endpoint);
    };
    gone.catch(() => undefined);
    await Promise.race([run(), gone]);
  }

  /** Restarts after the end of a process that was ready; one that ends before that makes `#launch` fail. */
  #gone(child: EngineChild, reason: string, livedMs: number): void {
    if (child !== this.#child || this.#stopping !== undefined || this.#state !== 'ready') return;
    this.#options.logger.error('Engine process ended; restarting it', {
      reason,
      pid: child.pid,
      lived_ms: livedMs,
    });
    if (livedMs >= STABLE_AFTER_MS) this.#failures = 0;
    this.#enter('starting', reason);
    this.#scheduleRestart();
  }

  #scheduleRestart(): void {
    // The first restart comes at once.
    const pause = this.#failures === 0 ? 0 : retryDelay(this.#failures, RETRIES.restart);
    this.#failures++;
    this.#retry = setTimeout(() => void this.#restart(), pause);
  }

  async #restart(): Promise<void> {
    this.#restarts++;
    try {
      await this.#launch();
    } catch (error) {
      await this.#child?.kill('the start failed');
      if (this.#stopping !== undefined) return;
      const reason = messageOf(error);
      this.#options.logger.error('Engine process failed to start; retrying', { reason });
      this.#enter('failed', reason);
      this.#scheduleRestart();
    }
  }

  #enter(state: EngineState, reason = ''): void {
    if (state === this.#state || this.#state === 'stopped') return;
    this.#state = state;
    this.#options.onState?.(state, { pid: state === 'ready' ? this.pid : undefined, reason });
  }
}

function forkEngine(path: string): ReturnType<typeof fork> {
  return fork(new URL('./process.js', import.meta.url), [], {
    // The engine does not get the parent's environment, whose secrets are not its business. The time zone decides what a
    // time without one means.
    env: { TZ: 'UTC', UV_THREADPOOL_SIZE: String(THREADS) },
    execArgv: ['--max-old-space-size=256'],
    // The engine's `default` database shows the files of the working directory.
    cwd: path,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'json',
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
