import { DomainError } from '../domain/errors.js';
import type { BodyBytes } from './body-memory.js';

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

  /** The whole body. */
  joined(): Buffer {
    const [only] = this.#pieces;
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces, this.#length);
  }

  /** Lets go of the pieces, for whoever keeps the object longer. */
  drop(): void {
    this.#pieces = [];
  }
}

export function tooLarge(maxBytes: number): DomainError {
  return new DomainError('too_large', `The body must have at most ${maxBytes} bytes, also after decompression`);
}
