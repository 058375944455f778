import { setImmediate } from 'node:timers/promises';
import { restMs } from '../../work/governor.js';

/** When a round left something, which a read may have kept from it. */
const AGAIN_MS = 250;

/** The rounds that a schedule runs. */
export interface ScheduledRound {
  /**
   * Runs one round; rejects when it failed, which is reported by then.
   * @param awaited the projects that someone waits for
   * @param large whether those who wait would rather have few large rounds than a quick one
   * @returns how many milliseconds it took; null: nothing could be done
   */
  run(awaited: ReadonlySet<string>, large: boolean): Promise<number | null>;
  /** Whether something is left for another round. */
  left(): boolean;
  /** Called after each round, when the next can begin. @param done whether it stored something */
  ended(done: boolean): void;
}

/** When rounds run: one at a time, some time after commits, and at once for who waits. */
export class RoundSchedule {
  readonly #scheduled: ScheduledRound;
  #round: Promise<void> | null = null;
  /** How many wait for a project to be settled. */
  readonly #awaited = new Map<string, number>();
  /** How many of those who wait, and how many of them for large rounds. */
  #waiting = { all: 0, large: 0 };
  #timer: NodeJS.Timeout | null = null;
  #closed = false;
  /** How long changes gather before they are rolled up, when no one reads: a trace in progress is then recomputed once. */
  #gatherMs = restMs('rollUp', 0);

  constructor(round: ScheduledRound) {
    this.#scheduled = round;
  }

  /** Whether a round is in progress. */
  get underWay(): boolean {
    return this.#round !== null;
  }

  /** Call after a commit: a round follows once changes have gathered. @param pressing whether it pays at once */
  committed(pressing: boolean): void {
    this.#schedule(this.#gatherMs);
    if (pressing) this.#hasten();
  }

  /** Resolves after the round in progress, or else after one that begins now. */
  async next(): Promise<void> {
    await (this.#round ??= this.#runRound());
  }

  /**
   * Runs rounds, in which the project is first, until a condition holds. A repair may mark again what was settled.
   * @param large whether few large rounds are better than a quick one
   */
  until(projectId: string | undefined, settled: () => boolean, large = false): Promise<void> {
    return this.awaiting(projectId, large, async () => {
      while (!settled()) await (this.#round ??= this.#runRound());
    });
  }

  /** Does work during which rounds run as for one who waits for them. The parameters are those of {@link until}. */
  async awaiting<T>(projectId: string | undefined, large: boolean, work: () => Promise<T>): Promise<T> {
    this.#await(projectId, 1, large);
    try {
      return await work();
    } finally {
      this.#await(projectId, -1, large);
    }
  }

  /** From now on rounds run for who waits alone. */
  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #await(projectId: string | undefined, more: 1 | -1, large: boolean): void {
    this.#waiting.all += more;
    if (large) this.#waiting.large += more;
    if (projectId === undefined) return;
    const waiting = (this.#awaited.get(projectId) ?? 0) + more;
    if (waiting > 0) this.#awaited.set(projectId, waiting);
    else this.#awaited.delete(projectId);
  }

  get #isLarge(): boolean {
    return this.#waiting.large > 0 && this.#waiting.large === this.#waiting.all;
  }

  #schedule(delay: number): void {
    if (this.#closed || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      // A failed round was reported; what it held is marked again.
      (this.#round ??= this.#runRound()).catch(() => undefined);
    }, delay);
  }

  /** Begins now what is scheduled. */
  #hasten(): void {
    if (this.#timer === null || this.#round !== null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#schedule(0);
  }

  async #runRound(): Promise<void> {
    // Who waited for the one before begins to read first.
    await setImmediate();
    let ms: number | null = null;
    try {
      ms = await this.#scheduled.run(new Set(this.#awaited.keys()), this.#isLarge);
      if (ms !== null) this.#gatherMs = restMs('rollUp', ms);
    } finally {
      this.#round = null;
      if (this.#scheduled.left()) this.#schedule(AGAIN_MS);
      this.#scheduled.ended(ms !== null);
    }
  }
}
