import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Mails of a project in an hour: no one is flooded with them, and the operator's mail server stays welcome. */
export const MAILS_PER_HOUR = 100;

/** Counts mails of projects, since the server started. */
export class MailQuota {
  readonly #limiter = new RateLimiterMemory({ points: MAILS_PER_HOUR, duration: 3_600 });

  /** Takes one. @returns in how many milliseconds there is one again; 0: it is taken */
  async take(projectId: string): Promise<number> {
    try {
      await this.#limiter.consume(projectId);
      return 0;
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return Math.max(1, refusal.msBeforeNext);
    }
  }
}
