import type { Micros } from '../../timestamp.js';

/** 2025-01-01T00:00:00Z: versions count from here, so that the sum of a large trace's versions stays small. */
export const EPOCH_SECONDS = 1_735_689_600;
const EPOCH_MICROS = EPOCH_SECONDS * 1_000_000;

/** Microseconds since the epoch above; unique per row and ordered like the commits. A safe integer. */
export type Version = number;

/** A hybrid clock: wall time in microseconds, but always past every version that it has given out or seen. */
export class VersionClock {
  #last: Version;

  /** @param last the highest version in the store. */
  constructor(last: Version) {
    this.#last = last;
  }

  get last(): Version {
    return this.#last;
  }

  /** The first of `count` consecutive versions, all of them new. */
  take(count: number): Version {
    const now = versionAt(Date.now());
    const first = Math.max(now, this.#last + 1);
    this.#last = first + count - 1;
    return first;
  }
}

/** The version that a moment, in milliseconds since 1970, stands for. */
export function versionAt(millis: number): Version {
  return millis * 1000 - EPOCH_MICROS;
}

/** The moment a version stands for. */
export function versionTime(version: Version): Micros {
  return version + EPOCH_MICROS;
}

/** The version that a moment, in microseconds since 1970, stands for. */
export function versionOf(at: Micros): Version {
  return at - EPOCH_MICROS;
}

/** The version that is stored for a moment that a record states: never 0, which stands for that of its row, and never to come. */
export function statedVersion(at: Micros): Version {
  return Math.max(1, Math.min(versionOf(at), versionAt(Date.now())));
}
