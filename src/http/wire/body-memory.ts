import { DomainError } from '../../engine/errors.js';
import { FairQuota } from '../../engine/work/fair-quota.js';

export interface BodyMemoryLimits {
  /** Bytes of all bodies in work whose requests came with an API key. */
  readonly maxBytesInWork: number;
  /** Bytes of all others, which never take of the former. */
  readonly maxPublicBytesInWork: number;
}

/**
 * Memory of the bodies in work, counted by who sent them: keeps many large uploads from filling it, and one
 * client's from leaving nothing to others. Bytes count as they arrive; what is only announced takes nothing.
 */
export class BodyMemory {
  readonly #keyed: FairQuota;
  readonly #public: FairQuota;

  constructor({ maxBytesInWork, maxPublicBytesInWork }: BodyMemoryLimits) {
    this.#keyed = new FairQuota(maxBytesInWork);
    this.#public = new FairQuota(maxPublicBytesInWork);
  }

  /** Memory for a body sent with an API key, counted by project: many keys of a project get no more than one. */
  ofProject(projectId: string): BodyBytes {
    return new BodyBytes(this.#keyed, projectId);
  }

  /** Memory for a body sent without a key. @param network of the client */
  ofNetwork(network: string): BodyBytes {
    return new BodyBytes(this.#public, network);
  }
}

/**
 * Memory that a piece of a body takes besides its bytes, roughly: a body in a million pieces takes more than a million bytes.
 */
const PIECE_BYTES = 512;

/** The bytes of one body. */
export class BodyBytes {
  readonly #shares: FairQuota;
  readonly #party: string;
  #held = 0;
  #ended = false;

  constructor(shares: FairQuota, party: string) {
    this.#shares = shares;
    this.#party = party;
  }

  /**
   * Counts a piece that has arrived.
   * @throws DomainError `overloaded`; what was held before still is
   */
  hold(bytes: number): void {
    const taken = Math.max(bytes, PIECE_BYTES);
    if (this.#ended || !this.#shares.take(this.#party, taken)) {
      throw new DomainError('overloaded', 'Request bodies currently use too much memory. Retry later.', {
        retryAfterSeconds: 1,
      });
    }
    this.#held += taken;
  }

  release(bytes: number): void {
    const released = Math.min(bytes, this.#held);
    if (released === 0) return;
    this.#held -= released;
    this.#shares.giveBack(this.#party, released);
  }

  /** Releases all. What still continues with the body, such as unfolding it, holds nothing anymore. */
  end(): void {
    this.#ended = true;
    this.release(this.#held);
  }
}
