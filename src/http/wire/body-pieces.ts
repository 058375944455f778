import { DomainError } from '../../engine/errors.js';
import type { BodyBytes } from './body-memory.js';
import { free } from './freed.js';

/** A body as it comes in, piece by piece: counted against its limit and in the memory of its sender. */
export class BodyPieces {
  readonly #maxBytes: number;
  readonly #held: BodyBytes;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number, held: BodyBytes) {
    this.#maxBytes = maxBytes;
    this.#held = held;
  }

  /** Bytes that have come so far. */
  get length(): number {
    return this.#length;
  }

  /** @throws DomainError `too_large`, `overloaded` */
  add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    this.#held.hold(piece.length);
    this.#pieces.push(piece);
  }

  /** The whole body; its pieces are gone then. */
  joined(): Buffer {
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) return only;
    const whole = Buffer.concat(this.#pieces, this.#length);
    for (const piece of this.#pieces) free(piece);
    this.#pieces = [];
    return whole;
  }

  /** Lets go of the pieces, for whoever keeps the object longer. */
  drop(): void {
    this.#pieces = [];
  }
}

export function tooLarge(maxBytes: number): DomainError {
  return new DomainError('too_large', `The body must have at most ${maxBytes} bytes, including after decompression`);
}
