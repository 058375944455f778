import { DomainError } from '../domain/errors.js';
import { FairShares } from '../domain/fair-share.js';

export interface BodyMemoryLimits {
  /** Bytes of all bodies in work whose requests came with an API key. */
  readonly maxBytesInWork: number;
  /** Bytes of all others, which never take of the former. */
  readonly maxPublicBytesInWork: number;
}

/**
 * What the bodies in work take of the memory, counted by who sent them: keeps many large uploads from filling it, and one
 * client's from leaving nothing to others. Bytes count as they arrive; what is only announced takes nothing.
 */
export class BodyMemory {
  readonly #keyed: FairShares;
  readonly #public: FairShares;

  constructor({ maxBytesInWork, maxPublicBytesInWork }: BodyMemoryLimits) {
    this.#keyed = new FairShares(maxBytesInWork);
    this.#public = new FairShares(maxPublicBytesInWork);
  }

  ofKey(keyId: string): BodyBytes {
    return new BodyBytes(this.#keyed, keyId);
  }

  /** Of a client without a key. @param network that it is in */
  ofNetwork(network: string): BodyBytes {
    return new BodyBytes(this.#public, network);
  }
}

/** The bytes of one body. */
export class BodyBytes {
  readonly #shares: FairShares;
  readonly #party: string;
  #held = 0;

  constructor(shares: FairShares, party: string) {
    this.#shares = shares;
    this.#party = party;
  }

  /** @throws DomainError `overloaded`; what was held before still is */
  hold(bytes: number): void {
    if (!this.#shares.take(this.#party, bytes)) {
      throw new DomainError('overloaded', 'Too many request bodies are in work', { retryAfterSeconds: 1 });
    }
    this.#held += bytes;
  }

  /** Default: all of them. */
  release(bytes: number = this.#held): void {
    if (bytes === 0) return;
    this.#held -= bytes;
    this.#shares.giveBack(this.#party, bytes);
  }
}
