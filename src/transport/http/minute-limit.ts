import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../../domain/errors.js';

const SECONDS = 60;

/** So many requests a minute of each party. */
export class MinuteLimit {
  readonly #limit: number;
  readonly #limiter: RateLimiterMemory;

  constructor(limit: number) {
    this.#limit = limit;
    this.#limiter = new RateLimiterMemory({ points: limit, duration: SECONDS });
  }

  /** @throws DomainError `overloaded` */
  async take(party: string): Promise<void> {
    try {
      await this.#limiter.consume(party);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw new DomainError('overloaded', `Only ${this.#limit} requests a minute are taken here`, {
        retryAfterSeconds: refusal.msBeforeNext / 1000,
      });
    }
  }
}
