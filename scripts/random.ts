/** A seeded source of random numbers: the same seed gives the same sequence on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to but not 1 (mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }

  /** Small indexes far more often than large ones, as users, documents and words are. */
  skewed<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() ** 2.5 * items.length)] as T;
  }

  /** Many values below `median`, few far above it, as durations and token counts are. */
  around(median: number, spread = 0.6): number {
    const normal = this.next() + this.next() + this.next() + this.next() - 2;
    return median * Math.exp(normal * spread * 1.7);
  }

  /** A UUID of version 4. */
  uuid(): string {
    const hex = (bits: number) =>
      Math.floor(this.next() * 2 ** bits)
        .toString(16)
        .padStart(bits / 4, '0');
    const variant = (8 + this.whole(0, 3)).toString(16);
    return `${hex(32)}-${hex(16)}-4${hex(12)}-${variant}${hex(12)}-${hex(24)}${hex(24)}`;
  }
}

/** One seed out of several numbers, so that part 7 of seed 1 has nothing in common with part 8. */
export function seedOf(...parts: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    hash = Math.imul(hash ^ (part >>> 0), 0x01000193);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    hash ^= hash >>> 12;
  }
  return hash >>> 0;
}
