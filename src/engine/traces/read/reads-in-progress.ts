import type { Governor } from '../../work/governor.js';
import type { Version } from '../write/version-clock.js';

/**
 * Resolves once everything of a project that is acknowledged so far can be read, with a version up to which all of it is
 * committed and rolled up; rejects when that cannot be had now.
 */
export type Settle = (projectId: string) => Promise<Version>;

/** Writes, and then resolves as {@link Settle} does, after as few rounds as others allow. */
export type SettleMany = (projectId: string, write: () => Promise<unknown>) => Promise<Version>;

/** A state that can be read at once: from rolled-up rows, and from the facts of what is not rolled up yet. */
export interface CommittedState {
  /** The version up to which all is committed. */
  readonly upTo: Version;
  /** Traces of the project that are not rolled up as of this version. */
  readonly traces: readonly string[];
  /** Sessions of the project that were posted or deleted since they were rolled up. */
  readonly sessions: readonly string[];
}

/** The ids that are wanted. @param wanted null: all */
export function among(ids: readonly string[], wanted: readonly string[] | null): readonly string[] {
  if (wanted === null) return ids;
  const known = new Set(wanted);
  return ids.filter((id) => known.has(id));
}

/** The part of a project that is to be read. */
export interface Wanted {
  /** Whether figures are read, which those of traces set aside cannot be from facts; otherwise spans alone. */
  readonly figures: boolean;
  /** The only traces that are read, or whose spans are; null: all. */
  readonly traces: readonly string[] | null;
}

/** The states of projects that can be read right now. Everything acknowledged is in them. */
export interface ReadableStates {
  readonly settle: Settle;
  /** The committed state of a project; throws when it cannot be had now. */
  readonly committed: (projectId: string) => CommittedState;
  /** Resolves once unsettled traces can be read from facts: at once, unless some are set aside or there are too many. */
  readonly readable: (projectId: string, wanted: Wanted) => Promise<void>;
}

/** A state that is read, possibly by several statements. */
export interface HeldState {
  readonly upTo: Version;
  /** Whether it took so long that rows may have been rolled up meanwhile that are newer than the state. */
  readonly overtaken: boolean;
  /** Call when the read has ended; further calls do nothing. */
  release(): void;
}

interface Held extends HeldState {
  overtaken: boolean;
  /** The project whose rolled-up rows must not become newer meanwhile; null: none. */
  readonly projectId: string | null;
}

/** No read takes as long, whatever the limits of its statements: one that is never released keeps nothing for good. */
const LONGEST_READ_MS = 24 * 3_600_000;
/**
 * A read that takes longer holds rounds back no more, as the writes of the project would wait for it: it sees traces that
 * changed meanwhile as they are then, beside others as they were. Lists are read once more after that.
 */
const LONGEST_STILL_MS = 10_000;
/** How long a read holds rounds back where the project has about as much that is not rolled up as it may have. */
const LONGEST_STILL_WHEN_FULL_MS = 1_000;
/** The time between two looks whether a read that has not ended has taken too long. */
const LOOK_AGAIN_MS = 250;

/**
 * The states that are being read. A span version that counts in one of them is not purged, however long the read takes or
 * waits for its turn, and what changed after one is not rolled up: each of its statements finds what the first one found.
 */
export class ReadsInProgress {
  readonly #states: ReadableStates;
  readonly #governor: Pick<Governor, 'listRead'>;
  readonly #longestMs: number;
  /** The states that are being read, with when they were taken, on the clock of `performance`. */
  readonly #held = new Map<Held, number>();
  #waiting: (() => void)[] = [];

  /** @param longestMs after so long a read counts no more */
  constructor(states: ReadableStates, governor: Pick<Governor, 'listRead'>, longestMs = LONGEST_READ_MS) {
    this.#states = states;
    this.#governor = governor;
    this.#longestMs = longestMs;
  }

  /** The state with everything of a project acknowledged so far, for a read that does not end with one call. */
  async open(projectId: string): Promise<HeldState> {
    return this.#hold(await this.#states.settle(projectId), null);
  }

  /** Reads the state with everything of a project acknowledged so far. */
  async run<T>(projectId: string, read: (upTo: Version) => Promise<T>): Promise<T> {
    return this.at(await this.#states.settle(projectId), read);
  }

  /**
   * Reads what is committed, without waiting until it is rolled up.
   * @param wanted `again`: whether the read may run once more where the first one took so long that its rows may be of two states
   */
  async ofCommitted<T>(
    projectId: string,
    wanted: Wanted & { readonly again?: boolean },
    read: (state: CommittedState) => Promise<T>,
  ): Promise<T> {
    await this.#states.readable(projectId, wanted);
    const state = this.#states.committed(projectId);
    const held = this.#hold(state.upTo, projectId);
    const result = await this.#until(held, () => read(state));
    return held.overtaken && wanted.again === true
      ? this.ofCommitted(projectId, { ...wanted, again: false }, read)
      : result;
  }

  /** What is committed, as {@link ofCommitted} reads it, for a read that does not end with one call. */
  async openCommitted(projectId: string, wanted: Wanted): Promise<HeldState & { readonly state: CommittedState }> {
    await this.#states.readable(projectId, wanted);
    const state = this.#states.committed(projectId);
    return Object.assign(this.#hold(state.upTo, projectId), { state });
  }

  /** Reads the state at a version, which must have been committed just now. */
  async at<T>(upTo: Version, read: (upTo: Version) => Promise<T>): Promise<T> {
    return this.#until(this.#hold(upTo, null), () => read(upTo));
  }

  /** As `at`, for a read that does not end with one call. */
  hold(upTo: Version): HeldState {
    return this.#hold(upTo, null);
  }

  get underWay(): boolean {
    return this.#held.size > 0;
  }

  /** The oldest state that is being read; Infinity: none is. */
  oldest(): Version {
    return this.#oldest(this.#longestMs, () => true);
  }

  /**
   * The oldest state that is being read and for whose sake a project's rolled-up rows stay as they are; Infinity: none is.
   * @param full whether the project has about as much that is not rolled up as it may have
   */
  oldestStill(projectId: string, full: boolean): Version {
    const longestMs = full ? LONGEST_STILL_WHEN_FULL_MS : LONGEST_STILL_MS;
    return this.#oldest(longestMs, (held) => held.projectId === projectId);
  }

  /** Resolves when a read has ended, or may have taken too long to be waited for. */
  async ended(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_AGAIN_MS);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #until<T>(held: HeldState, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } finally {
      held.release();
    }
  }

  #oldest(longestMs: number, counts: (held: Held) => boolean): Version {
    const since = performance.now() - longestMs;
    let oldest = Infinity;
    for (const [held, at] of this.#held) {
      if (!counts(held)) continue;
      if (at >= since) oldest = Math.min(oldest, held.upTo);
      else held.overtaken = true;
    }
    return oldest;
  }

  #hold(upTo: Version, projectId: string | null): HeldState {
    const listed = projectId === null ? undefined : this.#governor.listRead();
    const state: Held = {
      upTo,
      projectId,
      overtaken: false,
      release: () => {
        if (!this.#held.delete(state)) return;
        listed?.();
        for (const resolve of this.#waiting.splice(0)) resolve();
      },
    };
    this.#held.set(state, performance.now());
    return state;
  }
}
