// Why not cockatiel: it retries and breaks around a call that it makes, and refuses while it is open. Here attempts are
// kept in SQLite and made by whoever finds them due, so the queue has to ask beforehand when, and how many at once, a
// model may be asked; and a Retry-After holds calls back at the first failure, which its breakers heed only once open.

/** How long is waited after a first failure, and at most. */
export interface Retry {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** The waits of everything that is tried again, by what a try costs and who waits for it. */
export const RETRIES = {
  /** Looks and inserts that cost little, and that others wait for. */
  soon: { firstMs: 250, mostMs: 2_000 },
  /** A process that ended, and fails to start again. */
  restart: { firstMs: 250, mostMs: 5_000 },
  /** Work that continues when a store or a model answers again: of jobs, judges, deletions and upkeep. */
  work: { firstMs: 1_000, mostMs: 60_000 },
  /** Work on all there is, or on what is too large: backups, erasures, traces that were set aside. */
  large: { firstMs: 10_000, mostMs: 30 * 60_000 },
} as const satisfies Readonly<Record<string, Retry>>;

/** Retryable failures in a row after which the endpoint counts as failing, not single calls. */
const TRIPPED_AFTER = 10;
/** While calls are wanted, one is made more often than that: after so long, no one asks anymore. */
const FORGOTTEN_MS = 5 * 60_000;

/**
 * How long to wait before the next attempt: twice as long each time, at least what the endpoint asked for, and spread, so
 * that calls that failed together are not made again together.
 * @param attempts that failed so far, from 1
 * @returns whole milliseconds: times that are stored have whole microseconds
 */
export function retryDelay(attempts: number, { firstMs, mostMs }: Retry, retryAfterMs: number | null = null): number {
  const wait = Math.min(mostMs, firstMs * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);
  return Math.round(Math.max(wait, (retryAfterMs ?? 0) * (1 + Math.random() / 10)));
}

/**
 * Holds calls back while the endpoint asked for it, or fails whatever it is asked: then single calls find out whether it
 * is back, so that an outage does not use up the attempts of everything that is queued.
 */
export class Breaker {
  readonly #retry: Retry;
  #failures = 0;
  #until = 0;
  #failedAt = -Infinity;

  constructor(retry: Retry) {
    this.#retry = retry;
  }

  /** How long to wait before the next call, in milliseconds. @param now on the clock of `performance` */
  waitMs(now = performance.now()): number {
    return Math.max(0, this.#until - now);
  }

  /** How many calls may be in progress at once. */
  atOnce(concurrency: number): number {
    return this.#tripped ? 1 : concurrency;
  }

  /**
   * Whether so many calls failed in a row that others are held back, or would be: the last one failed a moment ago.
   * @param asked whether one is in progress, which may find out that the endpoint is back
   */
  isOpen(asked: boolean): boolean {
    return this.#tripped && (asked || this.waitMs() > 0 || performance.now() - this.#failedAt < FORGOTTEN_MS);
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(retryAfterMs: number | null): void {
    this.#failedAt = performance.now();
    // Calls that were in progress when the breaker began to hold back tell nothing new.
    const heldBack = this.#tripped && this.waitMs() > 0;
    if (!heldBack) this.#failures += 1;
    const trips = heldBack ? 0 : this.#failures - TRIPPED_AFTER + 1;
    const wait = Math.max(retryAfterMs ?? 0, trips > 0 ? retryDelay(trips, this.#retry) : 0);
    this.#until = Math.max(this.#until, performance.now() + wait);
  }

  get #tripped(): boolean {
    return this.#failures >= TRIPPED_AFTER;
  }
}
