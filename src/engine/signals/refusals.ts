import type { LogFields } from './logger.js';

/** Tells of what was refused. */
export interface RefusalTeller {
  /** @param said whether the same was said a moment ago */
  refused(fields: LogFields, said: boolean): void;
  /** More than one request was refused for a reason, from the first to the last in so many seconds, and none was lately. */
  ended(refusals: { readonly reason: string; readonly refused: number; readonly seconds: number }): void;
}

/** A reason for which requests are being refused. */
interface Refusing {
  /** As it was said first. */
  readonly reason: string;
  readonly since: number;
  last: number;
  refused: number;
}

/** Refusing has ended when none was refused for so long: clients that were told to send again have done so. */
const ENDED_AFTER_MS = 30_000;
/** Reasons at once, as some name what a client sent; further ones count as one. */
const MAX_REASONS = 100;
const MAX_CHARACTERS = 300;
const OTHERS = 'other reasons';

/**
 * Requests that are refused come in floods, as clients send again: the first of each reason is told and, when it is over, how
 * many there were.
 */
export class Refusals {
  readonly #teller: RefusalTeller;
  readonly #endedAfterMs: number;
  /** By reason, without its figures. */
  readonly #refusing = new Map<string, Refusing>();
  #timer: NodeJS.Timeout | undefined;

  constructor(teller: RefusalTeller, endedAfterMs = ENDED_AFTER_MS) {
    this.#teller = teller;
    this.#endedAfterMs = endedAfterMs;
  }

  refused(said: string, fields: LogFields): void {
    const reason = said.slice(0, MAX_CHARACTERS);
    const key = this.#keyOf(reason);
    const now = performance.now();
    const known = this.#refusing.get(key);
    this.#teller.refused({ ...fields, reason }, known !== undefined);
    if (known === undefined) {
      this.#refusing.set(key, { reason: key === OTHERS ? OTHERS : reason, since: now, last: now, refused: 1 });
      this.#timer ??= setInterval(() => this.#end(this.#endedAfterMs), this.#endedAfterMs / 2).unref();
    } else {
      known.last = now;
      known.refused += 1;
    }
  }

  /** Tells at once of all that was refused. */
  close(): void {
    this.#end(0);
  }

  /** One reason with other figures, such as of free bytes, is the same reason. */
  #keyOf(reason: string): string {
    const key = reason.replace(/\d[\d.,]*/g, 'N');
    return this.#refusing.has(key) || this.#refusing.size < MAX_REASONS ? key : OTHERS;
  }

  #end(afterMs: number): void {
    const now = performance.now();
    for (const [key, { reason, since, last, refused }] of this.#refusing) {
      if (now - last < afterMs) continue;
      this.#refusing.delete(key);
      if (refused > 1) this.#teller.ended({ reason, refused, seconds: (last - since) / 1000 });
    }
    if (this.#refusing.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
