import { setTimeout as sleep } from 'node:timers/promises';
import { RETRIES, retryDelay, type Retry } from './backoff.js';

export interface BackgroundLoopOptions {
  /** One round of the work. @returns in how many milliseconds the next begins at the latest; Infinity: when woken */
  readonly round: () => Promise<number> | number;
  /** Called when a round failed; the next one comes after a pause. */
  readonly onFailure: (error: unknown) => void;
  /** The pauses after rounds that failed; default: those of work. */
  readonly retry?: Retry;
  /** How long an idle loop that is woken waits for more to come; default: to the end of the turn. */
  readonly gatherMs?: number;
}

/** The longest that a timer of Node takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Work behind requests, in rounds, one at a time: whenever it is woken, when it is due, and again after failures. Waking
 * it while a round is in progress leads to another round.
 */
export class BackgroundLoop {
  readonly #options: BackgroundLoopOptions;
  readonly #closing = new AbortController();
  #woken = false;
  /** Rounds in a row that failed. */
  #failures = 0;
  #running: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer wakes the loop, on the clock of `performance`. */
  #dueAt = Infinity;

  constructor(options: BackgroundLoopOptions) {
    this.#options = options;
  }

  /** Signal that {@link close} aborts. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Begins a round, or has one follow the round in progress: there may be something to do. */
  wake(): void {
    if (this.signal.aborted) return;
    this.#woken = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      if (this.#woken) this.wake();
    });
  }

  /** Begins a round in so many milliseconds; the earliest of such calls counts, until a round begins. */
  wakeIn(ms: number): void {
    const dueAt = performance.now() + ms;
    if (this.signal.aborted || dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => this.wake(), Math.min(MAX_TIMER_MS, Math.ceil(ms))).unref();
  }

  /** Pauses within a round; closing ends the pause at once. */
  rest(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.signal, ref: false }).catch(() => undefined);
  }

  /** Resolves when the rounds in progress at the call are over. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Begins no further round; resolves when the one in progress is over. @param reason that its signal is aborted with */
  async close(reason?: Error): Promise<void> {
    this.#closing.abort(reason);
    this.#unschedule();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { round, onFailure, retry = RETRIES.work, gatherMs } = this.#options;
    await (gatherMs === undefined ? Promise.resolve() : this.rest(gatherMs));
    while (this.#woken && !this.signal.aborted) {
      this.#woken = false;
      this.#unschedule();
      try {
        this.wakeIn(await round());
        this.#failures = 0;
      } catch (error) {
        if (this.signal.aborted) return;
        onFailure(error);
        this.#failures += 1;
        this.#woken = true;
        await this.rest(retryDelay(this.#failures, retry));
      }
    }
  }

  #unschedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#dueAt = Infinity;
  }
}
