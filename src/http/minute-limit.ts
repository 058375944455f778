import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../engine/errors.js';

const SECONDS = 60;

/** So many requests a minute of each party. */
export class MinuteLimit {
  readonly #limit: number;
  readonly #counted: string;
  readonly #limiter: RateLimiterMemory;

  /** @param counted what is counted, in words */
  constructor(limit: number, counted = 'requests') {
    this.#limit = limit;
    this.#counted = counted;
    this.#limiter = new RateLimiterMemory({ points: limit, duration: SECONDS });
  }

  /** @throws DomainError `overloaded` */
  async take(party: string): Promise<void> {
    try {
      await this.#limiter.consume(party);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw new DomainError('overloaded', `Limit of ${this.#limit} ${this.#counted} per minute reached. Retry later.`, {
        retryAfterSeconds: refusal.msBeforeNext / 1000,
      });
    }
  }

  /**
   * Does work of which only failures count. It is counted before, so that attempts at once are no way around the limit.
   * @param failed whether an error of the work counts
   * @throws DomainError `overloaded`, without doing the work; what the work throws
   */
  async countFailures<T>(party: string, work: () => T, failed: (error: unknown) => boolean): Promise<T> {
    await this.take(party);
    let counts = false;
    try {
      return work();
    } catch (error) {
      counts = failed(error);
      throw error;
    } finally {
      if (!counts) await this.#limiter.reward(party);
    }
  }
}
