import { createHash } from 'node:crypto';

/**
 * A fast seeded source of random numbers: the same seed gives the same sequence on every machine.
 * Source: sfc32 by C. Doty-Humphrey, of PractRand 0.94 (https://pracrand.sourceforge.net), which passes its tests.
 */
export class RandomBits {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  /** The second of a pair of normal numbers. */
  #spare: number | null = null;

  constructor(seed: string) {
    const hash = createHash('sha256').update(seed).digest();
    this.#a = hash.readInt32LE(0);
    this.#b = hash.readInt32LE(4);
    this.#c = hash.readInt32LE(8);
  }

  /** 32 random bits, as a signed number. */
  bits(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum;
  }

  /** From 0 up to but not 1. */
  share(): number {
    return (this.bits() >>> 0) / 0x1_0000_0000;
  }

  /** A whole number from 0 up to but not `end`, which is far below 2³²: none is more likely by more than `end` / 2³². */
  below(end: number): number {
    return Math.floor(this.share() * end);
  }

  /** Of the standard normal distribution, by Marsaglia's polar method. */
  normal(): number {
    const spare = this.#spare;
    this.#spare = null;
    if (spare !== null) return spare;
    for (;;) {
      const x = 2 * this.share() - 1;
      const y = 2 * this.share() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      this.#spare = y * scale;
      return x * scale;
    }
  }
}
