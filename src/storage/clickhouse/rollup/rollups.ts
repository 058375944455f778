import { setImmediate } from 'node:timers/promises';
import { fairRoom } from '../../../domain/fair-share.js';
import type { RollupObserver } from '../../../observability/events/storage.js';
import type { CommitFollower, Touched } from '../commit/commit-log.js';
import type { Version, VersionClock } from '../commit/version-clock.js';
import type { ClickHouseClient } from '../client/client.js';
import { among, type CommittedState, type ReadsInProgress, type Wanted } from '../read/reads-in-progress.js';
import { AsideRetry } from './aside-retry.js';
import { DirtySet, type WaitingItem } from './dirty-set.js';
import {
  reconcileFacts,
  changedSince,
  findOwnSuccessors,
  forgetOwnSuccessors,
  insertsEnded,
  readWatermark,
  writeWatermark,
} from './healing.js';
import { MOST_UNSETTLED, ReadBudget } from './read-budget.js';
import { Recomputation } from './recomputation.js';
import { SetAside, type NotCurrent } from './set-aside.js';

export type { RollupObserver } from '../../../observability/events/storage.js';

/** Traces, and sessions, of one round: few enough for a round to take a fraction of a second. */
const MAX_ROUND = 2000;
/** Of one that reads wait for: half as long. */
const MAX_AWAITED_ROUND = 1000;
/** Traces that are to be recomputed, at most, so that memory does not grow; shared by the projects that have some. */
const MAX_DIRTY = 50_000;
/**
 * How long changes gather before they are rolled up, when nobody reads: a trace under way is then recomputed once. It
 * follows how long rounds take, so that they leave most of the engine's time to commits.
 */
const GATHER_ROUNDS = 8;
const MIN_GATHER_MS = 100;
const MAX_GATHER_MS = 2000;
const RETRY_MS = 250;
/** Traces of a project that are not rolled up and add to each of its lists about what a list takes anyway. */
const MANY_TO_READ = 300;
/** After how long what is set aside may be tried again; from try to try it takes twice as long. */
const ASIDE_RETRY_MS = 10_000;
/** How often the watermark is moved on at most: each time costs a small insert. */
const WATERMARK_MS = 2000;

export interface RollupLimits {
  /** Of a statement that recomputes; null: the server's own limit. */
  readonly maxMemoryBytes: number | null;
  /** After how long what is set aside may be tried again; default ten seconds. */
  readonly retryMs?: number;
}

/** The reads for whose sake rolled-up rows stay as they are. */
export type RollupReads = Pick<ReadsInProgress, 'oldestStill' | 'ended' | 'lately'>;

/**
 * Keeps the rollups in step with the commits. A commit only marks its traces; they are recomputed in rounds by
 * materialized views, soon by themselves, and at once when somebody waits for them. A trace that grows span by span is so
 * not recomputed for each.
 *
 * Lists do not wait: of the traces that are not rolled up as of the last commit they read the facts, in place of what is
 * rolled up. So that the rest is as it was then, a round takes only what had changed before every read under way began.
 */
export class Rollups implements CommitFollower {
  readonly #client: ClickHouseClient;
  readonly #clock: VersionClock;
  readonly #reads: RollupReads;
  readonly #observer: RollupObserver;
  readonly #traces = new DirtySet();
  readonly #sessions = new DirtySet();
  #committed: Version;
  #watermark: Version = 0;
  #watermarkAt = 0;
  #round: Promise<void> | null = null;
  /** What the round under way recomputes. */
  #inRound = { traces: new DirtySet(), sessions: new DirtySet() };
  /** How many wait for a project to be settled. */
  readonly #awaited = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;
  #gatherMs = MIN_GATHER_MS;
  readonly #budget = new ReadBudget();
  readonly #aside: SetAside;
  readonly #recomputation: Recomputation;
  readonly #retry: AsideRetry;

  constructor(
    client: ClickHouseClient,
    clock: VersionClock,
    reads: RollupReads,
    observer: RollupObserver,
    limits: RollupLimits,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#reads = reads;
    this.#observer = observer;
    this.#committed = clock.last;
    this.#aside = new SetAside(client, clock, observer, limits.retryMs ?? ASIDE_RETRY_MS);
    this.#recomputation = new Recomputation(client, this.#aside, limits.maxMemoryBytes);
    this.#retry = new AsideRetry(this.#aside, this.#recomputation, observer, () => ({
      upTo: () => this.#committed,
      round: clock.take(1),
    }));
  }

  committed(touched: readonly Touched[], upTo: Version): void {
    const since = this.#committed + 1;
    for (const { projectId, traces, sessions } of touched) {
      for (const trace of traces) {
        this.#traces.add({ projectId, id: trace, since, last: upTo });
        this.#aside.written('trace', { projectId, id: trace });
      }
      for (const session of sessions) {
        this.#sessions.add({ projectId, id: session, since, last: upTo });
        this.#aside.written('session', { projectId, id: session });
      }
    }
    this.#committed = upTo;
    this.#changed();
    this.#schedule(this.#gatherMs);
    if (touched.some(({ projectId }) => this.#isPressing(projectId))) this.#hasten();
  }

  isFull(projectId: string): boolean {
    const ofParty = this.#unsettled(projectId);
    if (ofParty === 0) return false;
    return ofParty > this.#budget.most || fairRoom({ limit: MAX_DIRTY, taken: this.#traces.size, ofParty }) < 0;
  }

  async progress(): Promise<void> {
    await (this.#round ??= this.#runRound());
  }

  /**
   * Resolves once every commit acknowledged before the call is in the rollups, but for what is set aside. What other
   * projects write is not waited for.
   * @param projectId default: all projects
   * @returns the version up to which all commits are.
   */
  async settle(projectId?: string): Promise<Version> {
    const acknowledged = this.#committed;
    await this.#until(projectId, () => this.settled(projectId) >= acknowledged);
    return this.settled(projectId);
  }

  /**
   * As {@link settle}, for some traces of a project, without what they bring to their sessions: what others it writes to
   * is not waited for either.
   */
  async settleTraces(projectId: string, ids: readonly string[]): Promise<Version> {
    const acknowledged = this.#committed;
    const since = (id: string) =>
      Math.min(this.#traces.sinceOf({ projectId, id }), this.#inRound.traces.sinceOf({ projectId, id }));
    await this.#until(projectId, () => ids.every((id) => since(id) > acknowledged));
    return acknowledged;
  }

  /** The version up to which all commits are in the rollups right now. @param projectId default: those of all projects */
  settled(projectId?: string): Version {
    const sets = [this.#traces, this.#sessions, this.#inRound.traces, this.#inRound.sessions];
    return Math.min(this.#committed, ...sets.map((set) => set.since(projectId) - 1));
  }

  /** What can be read of a project at once. */
  committedOf(projectId: string): CommittedState {
    const idsOf = (waiting: DirtySet, inRound: DirtySet) => [
      ...new Set([...waiting.idsOf(projectId), ...inRound.idsOf(projectId)]),
    ];
    return {
      upTo: this.#committed,
      traces: idsOf(this.#traces, this.#inRound.traces),
      sessions: idsOf(this.#sessions, this.#inRound.sessions),
    };
  }

  /**
   * Resolves once a project's unsettled traces can be read from their facts: the figures of those that are set aside
   * cannot, and too many, as one request may hold, would take too long.
   */
  async readable(projectId: string, { figures, traces: ids }: Wanted): Promise<void> {
    if (ids === null && this.#unsettled(projectId) > MOST_UNSETTLED) await this.settle(projectId);
    if (!figures) return;
    const { traces: aside } = this.#aside.notCurrent(projectId);
    const wanted = among(aside, ids);
    if (wanted.length > 0) await this.settleTraces(projectId, wanted);
  }

  /** To be called when replaced or deleted versions are gone. */
  purged(): void {
    this.#aside.purged();
    this.#retry.schedule();
  }

  /** What is set aside of a project. */
  notCurrent(projectId: string): NotCurrent {
    return this.#aside.notCurrent(projectId);
  }

  /** Resolves once nothing that is set aside of a project is tried again: the project is deleted. */
  async forget(projectId: string): Promise<void> {
    this.#aside.forget(projectId);
    await this.#retry.ended();
    // One that was being tried in vain is set aside anew.
    this.#aside.forget(projectId);
  }

  /**
   * Makes spans, facts and rollups agree after a crash: at start, and after an insert with an unknown outcome.
   * Everything it does may be done twice, or be cut off and done again.
   */
  async repair(upTo: Version): Promise<void> {
    await insertsEnded(this.#client);
    this.#watermark = await readWatermark(this.#client);
    await reconcileFacts(this.#client, this.#watermark);
    await this.#aside.load();
    const reinstated = await findOwnSuccessors(this.#client);
    const { traces, sessions } = await changedSince(this.#client, this.#watermark);
    const since = this.#watermark + 1;
    for (const { projectId, id } of [...reinstated, ...traces]) this.#traces.add({ projectId, id, since, last: upTo });
    for (const { projectId, id } of sessions) this.#sessions.add({ projectId, id, since, last: upTo });
    this.#committed = Math.max(this.#committed, upTo);
    this.#changed();
    await this.settle();
    if (reinstated.length > 0) await forgetOwnSuccessors(this.#client);
    this.#retry.schedule();
  }

  /** Rolls up what is left. When that fails, everything acknowledged is stored all the same: the next start rolls it up. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#retry.close();
    try {
      await this.settle();
      await this.#moveWatermark(0);
    } catch (error) {
      this.#observer.rollupFailed({ error });
    }
  }

  /** Runs rounds, in which the project is first, until a condition holds. A repair may mark again what was settled. */
  async #until(projectId: string | undefined, settled: () => boolean): Promise<void> {
    this.#await(projectId, 1);
    try {
      while (!settled()) await (this.#round ??= this.#runRound());
    } finally {
      this.#await(projectId, -1);
    }
  }

  #await(projectId: string | undefined, more: 1 | -1): void {
    if (projectId === undefined) return;
    const waiting = (this.#awaited.get(projectId) ?? 0) + more;
    if (waiting > 0) this.#awaited.set(projectId, waiting);
    else this.#awaited.delete(projectId);
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
    const started = performance.now();
    const upTo = this.#statesToRollUp();
    const awaited = new Set(this.#awaited.keys());
    const most = awaited.size > 0 ? MAX_AWAITED_ROUND : MAX_ROUND;
    const traces = this.#traces.take(most, awaited, upTo);
    const sessions = this.#sessions.take(most, awaited, upTo);
    this.#inRound = { traces: setOf(traces), sessions: setOf(sessions) };
    try {
      if (traces.length + sessions.length === 0) {
        if (this.#traces.size + this.#sessions.size > 0) await this.#reads.ended();
        return;
      }
      const round = { upTo, round: this.#clock.take(1) };
      if (traces.length > 0) await this.#recomputation.traces(traces, round);
      await this.#recomputation.sessions(sessions, round);
      for (const trace of traces) this.#addRest(this.#traces, trace, upTo);
      for (const session of sessions) this.#addRest(this.#sessions, session, upTo);
      const duration = performance.now() - started;
      this.#gatherMs = Math.min(MAX_GATHER_MS, Math.max(MIN_GATHER_MS, duration * GATHER_ROUNDS));
      this.#budget.rolledUp({ traces: traces.length, ms: duration });
      this.#observer.rollupFinished({ traces: traces.length, seconds: duration / 1000 });
    } catch (error) {
      this.#traces.restore(traces);
      this.#sessions.restore(sessions);
      this.#observer.rollupFailed({ error });
      throw error;
    } finally {
      this.#round = null;
      this.#inRound = { traces: new DirtySet(), sessions: new DirtySet() };
      this.#changed();
      if (this.#traces.size + this.#sessions.size > 0) this.#schedule(RETRY_MS);
      this.#retry.schedule();
    }
    // Nobody waits for it, and one that fails is made up for by the next.
    this.#moveWatermark(WATERMARK_MS).catch((error: unknown) => {
      this.#observer.rollupFailed({ error });
    });
  }

  /** Of each project the state that a round rolls up: the oldest one that is read, or else the last. */
  #statesToRollUp(): (projectId: string) => Version {
    const committed = this.#committed;
    const states = new Map<string, Version>();
    return (projectId) => {
      const known = states.get(projectId);
      if (known !== undefined) return known;
      const state = Math.min(committed, this.#reads.oldestStill(projectId, this.#isHalfFull(projectId)));
      states.set(projectId, state);
      return state;
    };
  }

  /** Marks again what changed after the state that was rolled up. */
  #addRest(dirty: DirtySet, item: WaitingItem, upTo: (projectId: string) => Version): void {
    const since = upTo(item.projectId) + 1;
    if (item.last >= since) dirty.add({ ...item, since });
  }

  /** Everything below the watermark is rolled up for good; healing at start begins there. */
  async #moveWatermark(interval: number): Promise<void> {
    if (performance.now() - this.#watermarkAt < interval) return;
    const settled = this.settled();
    if (settled <= this.#watermark || this.#round) return;
    this.#watermarkAt = performance.now();
    await writeWatermark(this.#client, settled);
    this.#watermark = settled;
  }

  /** How many traces of a project no round has stored yet. */
  #unsettled(projectId: string): number {
    return this.#traces.sizeOf(projectId) + this.#inRound.traces.sizeOf(projectId);
  }

  /** Whether a round pays at once: for readers when a list takes noticeably longer for what is not rolled up. */
  #isPressing(projectId: string): boolean {
    return this.#isHalfFull(projectId) || (this.#reads.lately && this.#unsettled(projectId) > MANY_TO_READ);
  }

  #isHalfFull(projectId: string): boolean {
    return this.#unsettled(projectId) > this.#budget.most / 2;
  }

  #changed(): void {
    this.#observer.rollupPending({ traces: this.#traces.size });
  }
}

function setOf(items: readonly WaitingItem[]): DirtySet {
  const set = new DirtySet();
  for (const item of items) set.add(item);
  return set;
}
