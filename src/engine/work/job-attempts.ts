import { retryDelay, type Retry } from './backoff.js';
import type { JobHead } from './job.js';

interface Attempts {
  readonly failed: number;
  /** Steps that were done when the last attempt failed. */
  readonly done: number;
  /** Earliest begin of the next attempt, on the clock of `performance`. */
  readonly notBefore: number;
}

/** Attempts in a row in which jobs got nothing done; in memory, so that a restart begins to count again. */
export class JobAttempts {
  readonly #retry: Retry;
  readonly #byJob = new Map<string, Attempts>();

  constructor(retry: Retry) {
    this.#retry = retry;
  }

  failedOf(id: string): number {
    return this.#byJob.get(id)?.failed ?? 0;
  }

  isDue(id: string, now: number): boolean {
    return (this.#byJob.get(id)?.notBefore ?? 0) <= now;
  }

  /**
   * @param done steps that are done by now; undefined: not known
   * @returns how many attempts failed
   */
  failedOnce({ id, done: doneAtFirst }: JobHead, done: number | undefined): number {
    const before = this.#byJob.get(id);
    const doneNow = done ?? before?.done ?? doneAtFirst;
    const failed = before !== undefined && doneNow === before.done ? before.failed + 1 : 1;
    const notBefore = performance.now() + retryDelay(failed, this.#retry);
    this.#byJob.set(id, { failed, done: doneNow, notBefore });
    return failed;
  }

  forget(id: string): void {
    this.#byJob.delete(id);
  }

  forgetOthers(than: readonly JobHead[]): void {
    const ids = new Set(than.map(({ id }) => id));
    for (const id of this.#byJob.keys()) if (!ids.has(id)) this.#byJob.delete(id);
  }

  /** Milliseconds until the next job is due that is not due now; Infinity: there is none. */
  waitMs(now: number): number {
    const waits = [...this.#byJob.values()].map(({ notBefore }) => notBefore - now);
    return Math.min(Infinity, ...waits.filter((ms) => ms > 0));
  }
}
