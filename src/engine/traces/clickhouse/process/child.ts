import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { EngineLockedError } from './engine.js';
import type { EngineLogger } from './engine.js';
import type { FromEngine, ToEngine } from './messages.js';

/** The pace of beats, and how many unanswered in a row mean a stopped process: noticed after 1.4 to 1.75 s. */
const BEAT_EVERY_MS = 350;
const BEATS_MISSED = 4;

type Opened = Extract<FromEngine, { type: 'opened' }>;

/** One life of the engine process, seen from outside: opening, beating, and its end for whatever reason. */
export class EngineChild {
  readonly #process: ChildProcess;
  readonly #logger: EngineLogger;
  readonly #exited: Promise<void>;
  #reason: string | undefined;
  #gone = false;
  #listeners: ((reason: string) => void)[] = [];
  #opened: { resolve(opened: Opened): void; reject(error: Error): void } | undefined;
  #beats: NodeJS.Timeout | undefined;
  #unanswered = 0;
  #lockedBy = '';

  constructor(process: ChildProcess, logger: EngineLogger) {
    this.#process = process;
    this.#logger = logger;
    this.#exited = new Promise((resolve) => {
      // `close`, not `exit`: the engine's last words on stderr are read by then.
      process.once('close', (code, signal) => {
        this.#end(`the process ended (${signal ?? `code ${String(code)}`})`);
        resolve();
      });
    });
    process.once('error', (error) => this.#end(`the process failed to start: ${error.message}`));
    process.on('message', (message: FromEngine) => this.#hear(message));
    this.#relay('stdout');
    this.#relay('stderr');
  }

  get pid(): number | undefined {
    return this.#gone ? undefined : this.#process.pid;
  }

  /** Calls `listener` once, when the process is gone and its lock with it; at once when it already is. */
  whenGone(listener: (reason: string) => void): void {
    if (this.#gone) listener(this.#reason ?? 'gone');
    else this.#listeners.push(listener);
  }

  /**
   * Opens the data.
   *
   * @throws EngineLockedError when another process has it open.
   * @throws Error when it fails otherwise, or takes longer than `deadlineMs`.
   */
  async open(message: Extract<ToEngine, { type: 'open' }>, deadlineMs: number): Promise<Opened> {
    const deadline = setTimeout(() => void this.kill(`it did not open within ${deadlineMs} ms`), deadlineMs);
    try {
      const opened = await new Promise<Opened>((resolve, reject) => {
        this.#opened = { resolve, reject };
        this.#tell(message);
      });
      this.#beats = setInterval(() => this.#beat(), BEAT_EVERY_MS);
      return opened;
    } catch (error) {
      throw this.#lockedBy === '' ? error : new EngineLockedError(message.path);
    } finally {
      clearTimeout(deadline);
      this.#opened = undefined;
    }
  }

  /** Asks the process to end; kills it when it has not within `deadlineMs`. */
  async stop(deadlineMs: number): Promise<void> {
    if (this.#gone) return;
    clearInterval(this.#beats);
    this.#reason ??= 'stopped';
    const deadline = setTimeout(() => void this.kill(`it did not stop within ${deadlineMs} ms`), deadlineMs);
    this.#tell({ type: 'stop' });
    await this.#exited;
    clearTimeout(deadline);
  }

  /** Ends the process by SIGKILL, as the engine may ignore anything milder; resolves when it is gone. */
  async kill(reason: string): Promise<void> {
    if (this.#gone) return;
    this.#reason ??= reason;
    this.#process.kill('SIGKILL');
    await this.#exited;
  }

  /**
   * Sends a beat, and counts unanswered beats, not time: between two of them this process has read what came in, so a pause
   * of its own (or of the whole machine) is not taken for the engine's.
   */
  #beat(): void {
    if (this.#unanswered >= BEATS_MISSED) {
      clearInterval(this.#beats);
      void this.kill(`it missed ${this.#unanswered} heartbeats`);
      return;
    }
    this.#unanswered++;
    this.#tell({ type: 'beat', beat: this.#unanswered });
  }

  #hear(message: FromEngine): void {
    if (message.type === 'beat') this.#unanswered = 0;
    else if (message.type === 'opened') this.#opened?.resolve(message);
    else if (message.type === 'failed') void this.kill(message.detail);
  }

  #tell(message: ToEngine): void {
    // The callback takes the error of a channel that has just closed; `close` tells the rest.
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  #end(reason: string): void {
    if (this.#gone) return;
    this.#gone = true;
    clearInterval(this.#beats);
    this.#reason ??= reason;
    this.#opened?.reject(new Error(this.#reason));
    for (const listener of this.#listeners.splice(0)) listener(this.#reason);
  }

  #relay(name: 'stdout' | 'stderr'): void {
    const stream = this.#process[name];
    if (stream === null) return;
    createInterface({ input: stream }).on('line', (line) => {
      // The addon's error says only that it could not connect; the reason is on stderr.
      if (/Code: 76\b.*Cannot lock file/.test(line)) this.#lockedBy = line;
      if (line.trim() !== '') this.#logger.warn('Engine process output', { line });
    });
  }
}
