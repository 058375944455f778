import { DomainError } from '../errors.js';

export interface TurnLimits {
  /** Turns at once, of all parties. */
  readonly atOnce: number;
  /** Turns at once of one party; with fewer than all, it never has them all. Default: all. */
  readonly perParty?: number;
  /** How long a turn is waited for; default: as long as it takes. */
  readonly maxWaitMs?: number;
  /** How many of one party may wait; one more is refused at once. Default: any number. */
  readonly maxWaiting?: number;
}

/** Ends a turn; further calls do nothing. */
export type EndTurn = () => void;

interface Waiting {
  begin(): void;
}

const RETRY_AFTER_SECONDS = 1;

/**
 * Something of which only so much goes on at once, shared by parties: those that wait are served in rotation, one turn of
 * each, so that a party's requests queue behind its own, and behind one of each other party.
 */
export class FairSemaphore {
  readonly #limits: Required<TurnLimits>;
  readonly #what: string;
  readonly #underWay = new Map<string, number>();
  /** Waiting calls by party, in the order in which parties are served next. */
  readonly #waiting = new Map<string, Waiting[]>();
  #taken = 0;

  /** @param what is counted, in the plural, for the message of a refusal */
  constructor(what: string, limits: TurnLimits) {
    this.#what = what;
    this.#limits = { perParty: limits.atOnce, maxWaitMs: Infinity, maxWaiting: Infinity, ...limits };
  }

  /**
   * Resolves when it is the party's turn, with what ends it.
   *
   * @throws DomainError `overloaded` when it does not come in time, or too many of the party wait already.
   * @throws the signal's reason when that aborts first.
   */
  async take(party: string, signal?: AbortSignal): Promise<EndTurn> {
    signal?.throwIfAborted();
    // No one who waits could begin: otherwise it would have.
    if (this.#mayBegin(party)) this.#begin(party);
    else await this.#wait(party, signal);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#end(party);
    };
  }

  /** Does the work when it is the party's turn. @throws as {@link take}, and what the work throws. */
  async run<T>(party: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const end = await this.take(party, signal);
    try {
      return await work();
    } finally {
      end();
    }
  }

  #wait(party: string, signal: AbortSignal | undefined): Promise<void> {
    const queue = this.#waiting.get(party) ?? [];
    if (queue.length >= this.#limits.maxWaiting) throw this.#tooMany(`${queue.length} are already waiting`);
    this.#waiting.set(party, queue);
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
      };
      const leave = (error: Error) => {
        settle();
        queue.splice(queue.indexOf(waiting), 1);
        if (queue.length === 0) this.#waiting.delete(party);
        reject(error);
      };
      const { maxWaitMs } = this.#limits;
      const late = () => leave(this.#tooMany(`this one has waited ${maxWaitMs / 1000} s`));
      const timer = maxWaitMs === Infinity ? undefined : setTimeout(late, maxWaitMs);
      const aborted = () => leave(signal?.reason as Error);
      const waiting: Waiting = {
        begin() {
          settle();
          resolve();
        },
      };
      signal?.addEventListener('abort', aborted);
      queue.push(waiting);
    });
  }

  #mayBegin(party: string): boolean {
    return this.#taken < this.#limits.atOnce && (this.#underWay.get(party) ?? 0) < this.#limits.perParty;
  }

  #begin(party: string): void {
    this.#taken += 1;
    this.#underWay.set(party, (this.#underWay.get(party) ?? 0) + 1);
  }

  #end(party: string): void {
    this.#taken -= 1;
    const left = (this.#underWay.get(party) ?? 0) - 1;
    if (left > 0) this.#underWay.set(party, left);
    else this.#underWay.delete(party);
    this.#next();
  }

  #next(): void {
    for (const [party, queue] of this.#waiting) {
      if (!this.#mayBegin(party)) continue;
      const waiting = queue.shift();
      // A party that waits for more goes behind the others.
      this.#waiting.delete(party);
      if (queue.length > 0) this.#waiting.set(party, queue);
      this.#begin(party);
      waiting?.begin();
      return;
    }
  }

  #tooMany(detail: string): DomainError {
    const { perParty } = this.#limits;
    return new DomainError(
      'overloaded',
      `Too many ${this.#what} at once: a project can run ${perParty} at a time, and ${detail}`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }
}
