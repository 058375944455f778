import type { Version } from './commit/version-clock.js';

/**
 * Resolves once everything of a project that is acknowledged so far can be read, with a version up to which all of it is
 * committed and rolled up; rejects when that cannot be had now.
 */
export type Settle = (projectId: string) => Promise<Version>;

/** What spans alone can be read from before it is rolled up. */
export interface CommittedState {
  /** Up to which all is committed. */
  readonly upTo: Version;
  /** The first version of the project that may not be rolled up, so that what it replaced is not known to be; null: all is. */
  readonly unsettledSince: Version | null;
}

/** What can be read of a project right now. What it was acknowledged is in all of them. */
export interface ReadableStates {
  readonly settle: Settle;
  /** As `settle`, for some traces alone, without what they bring to their sessions. */
  readonly settleTraces: (projectId: string, ids: readonly string[]) => Promise<Version>;
  /** For spans alone, which wait for nothing; throws when it cannot be had now. */
  readonly committed: (projectId: string) => CommittedState;
}

/** A state that is read, possibly by several statements. */
export interface HeldState {
  readonly upTo: Version;
  /** To be called when the read has ended; further calls do nothing. */
  release(): void;
}

/** No read takes as long, whatever the limits of its statements: one that is never released keeps nothing for good. */
const LONGEST_READ_MS = 24 * 3_600_000;

/**
 * The states that are being read. A span version that counts in one of them is not purged, however long the read takes or
 * waits for its turn: each of its statements finds what the first one found.
 */
export class ReadsInProgress {
  readonly #states: ReadableStates;
  readonly #longestMs: number;
  /** With when they were taken, on the clock of `performance`. */
  readonly #held = new Map<HeldState, number>();

  /** @param longestMs after so long a read counts no more */
  constructor(states: ReadableStates, longestMs = LONGEST_READ_MS) {
    this.#states = states;
    this.#longestMs = longestMs;
  }

  /** The state with everything of a project acknowledged so far, for a read that does not end with one call. */
  async open(projectId: string): Promise<HeldState> {
    return this.#hold(await this.#states.settle(projectId));
  }

  /** Reads the state with everything of a project acknowledged so far. */
  async run<T>(projectId: string, read: (upTo: Version) => Promise<T>): Promise<T> {
    return this.at(await this.#states.settle(projectId), read);
  }

  /** Reads some traces of a project, whatever else it writes. */
  async ofTraces<T>(projectId: string, ids: readonly string[], read: (upTo: Version) => Promise<T>): Promise<T> {
    return this.at(await this.#states.settleTraces(projectId, ids), read);
  }

  /** Reads spans, whatever else is written. */
  async ofSpans<T>(projectId: string, read: (state: CommittedState) => Promise<T>): Promise<T> {
    const state = this.#states.committed(projectId);
    return this.at(state.upTo, () => read(state));
  }

  /** Reads the state at a version, which must have been committed just now. */
  async at<T>(upTo: Version, read: (upTo: Version) => Promise<T>): Promise<T> {
    const state = this.#hold(upTo);
    try {
      return await read(upTo);
    } finally {
      state.release();
    }
  }

  /** The oldest state that is being read; Infinity: none is. */
  oldest(): Version {
    const since = performance.now() - this.#longestMs;
    let oldest = Infinity;
    for (const [{ upTo }, at] of this.#held) if (at >= since) oldest = Math.min(oldest, upTo);
    return oldest;
  }

  #hold(upTo: Version): HeldState {
    const state: HeldState = { upTo, release: () => this.#held.delete(state) };
    this.#held.set(state, performance.now());
    return state;
  }
}
