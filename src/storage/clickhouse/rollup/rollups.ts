import { fairRoom } from '../../../domain/fair-share.js';
import type { RollupObserver } from '../../../observability/events/storage.js';
import type { CommitFollower, Touched } from '../commit/commit-log.js';
import type { Version, VersionClock } from '../commit/version-clock.js';
import type { ClickHouseClient } from '../client.js';
import { DirtySet, type WaitingItem } from './dirty-set.js';
import {
  agree,
  changedSince,
  findOwnSuccessors,
  forgetOwnSuccessors,
  insertsEnded,
  readWatermark,
  writeWatermark,
} from './healing.js';
import { Recomputation } from './recomputation.js';
import { SetAside, type NotCurrent } from './set-aside.js';

export type { RollupObserver } from '../../../observability/events/storage.js';

/** Traces, and sessions, of one round: few enough for a round to take a fraction of a second. */
const MAX_ROUND = 2000;
/** Of one that reads wait for: half as long. */
const MAX_AWAITED_ROUND = 1000;
/**
 * Traces that are to be recomputed, at most, so that neither memory nor a read's wait grows: the writes of a project that
 * has more of them than are left free wait.
 */
const MAX_DIRTY = 50_000;
/**
 * How long changes gather before they are rolled up, when nobody reads: a trace under way is then recomputed once. It
 * follows how long rounds take, so that they leave most of the engine's time to commits.
 */
const GATHER_ROUNDS = 8;
const MIN_GATHER_MS = 100;
const MAX_GATHER_MS = 2000;
const RETRY_MS = 250;
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

/**
 * Keeps the rollups in step with the commits. A commit only marks its traces; they are recomputed in rounds by
 * materialized views, soon by themselves, and at once when somebody reads. So a read always sees figures of everything
 * acknowledged before it, and a trace that grows span by span is not recomputed for each.
 */
export class Rollups implements CommitFollower {
  readonly #client: ClickHouseClient;
  readonly #clock: VersionClock;
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
  readonly #aside: SetAside;
  readonly #recomputation: Recomputation;
  #retry: Promise<void> | null = null;
  #retryTimer: NodeJS.Timeout | null = null;

  constructor(client: ClickHouseClient, clock: VersionClock, observer: RollupObserver, limits: RollupLimits) {
    this.#client = client;
    this.#clock = clock;
    this.#observer = observer;
    this.#committed = clock.last;
    this.#aside = new SetAside(client, clock, observer, limits.retryMs ?? ASIDE_RETRY_MS);
    this.#recomputation = new Recomputation(client, this.#aside, limits.maxMemoryBytes);
  }

  committed(touched: readonly Touched[], upTo: Version): void {
    const since = this.#committed + 1;
    for (const { projectId, traces, sessions } of touched) {
      for (const trace of traces) {
        this.#traces.add({ projectId, id: trace, since });
        this.#aside.written('trace', { projectId, id: trace });
      }
      for (const session of sessions) {
        this.#sessions.add({ projectId, id: session, since });
        this.#aside.written('session', { projectId, id: session });
      }
    }
    this.#committed = upTo;
    this.#changed();
    this.#schedule(this.#gatherMs);
  }

  isFull(projectId: string): boolean {
    const ofParty = this.#traces.sizeOf(projectId);
    return ofParty > 0 && fairRoom({ limit: MAX_DIRTY, taken: this.#traces.size, ofParty }) < 0;
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

  /** The version up to which all is committed, and, if not all of a project is rolled up, from which on it is not. */
  committedOf(projectId: string): { readonly upTo: Version; readonly unsettledSince: Version | null } {
    const settled = this.settled(projectId);
    return { upTo: this.#committed, unsettledSince: settled < this.#committed ? settled + 1 : null };
  }

  /** To be called when replaced or deleted versions are gone. */
  purged(): void {
    this.#aside.purged();
    this.#scheduleRetry();
  }

  /** What is set aside of a project. */
  notCurrent(projectId: string): NotCurrent {
    return this.#aside.notCurrent(projectId);
  }

  /** Resolves once nothing that is set aside of a project is tried again: the project is deleted. */
  async forget(projectId: string): Promise<void> {
    this.#aside.forget(projectId);
    await this.#retry;
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
    await agree(this.#client, this.#watermark);
    await this.#aside.load();
    const reinstated = await findOwnSuccessors(this.#client);
    const { traces, sessions } = await changedSince(this.#client, this.#watermark);
    const since = this.#watermark + 1;
    for (const { projectId, id } of [...reinstated, ...traces]) this.#traces.add({ projectId, id, since });
    for (const { projectId, id } of sessions) this.#sessions.add({ projectId, id, since });
    this.#committed = Math.max(this.#committed, upTo);
    this.#changed();
    await this.settle();
    if (reinstated.length > 0) await forgetOwnSuccessors(this.#client);
    this.#scheduleRetry();
  }

  /** Rolls up what is left. When that fails, everything acknowledged is stored all the same: the next start rolls it up. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#retryTimer) clearTimeout(this.#retryTimer);
    await this.#retry;
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

  async #runRound(): Promise<void> {
    const started = performance.now();
    const upTo = this.#committed;
    const awaited = new Set(this.#awaited.keys());
    const most = awaited.size > 0 ? MAX_AWAITED_ROUND : MAX_ROUND;
    const traces = this.#traces.take(most, awaited);
    const sessions = this.#sessions.take(most, awaited);
    this.#inRound = { traces: setOf(traces), sessions: setOf(sessions) };
    try {
      if (traces.length > 0) await this.#recomputation.traces(traces, { upTo, round: this.#clock.take(1) });
      await this.#recomputation.sessions(sessions);
      const duration = performance.now() - started;
      this.#gatherMs = Math.min(MAX_GATHER_MS, Math.max(MIN_GATHER_MS, duration * GATHER_ROUNDS));
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
      this.#scheduleRetry();
    }
    // Nobody waits for it, and one that fails is made up for by the next.
    this.#moveWatermark(WATERMARK_MS).catch((error: unknown) => {
      this.#observer.rollupFailed({ error });
    });
  }

  /** Beside the rounds, so that nobody waits for it. */
  #scheduleRetry(): void {
    const next = this.#aside.next();
    if (this.#closed || this.#retry || next === undefined) return;
    if (this.#retryTimer) clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(
      () => {
        this.#retry = this.#tryAgain().finally(() => {
          this.#retry = null;
          this.#scheduleRetry();
        });
      },
      Math.max(RETRY_MS, next.dueAt - performance.now()),
    ).unref();
  }

  async #tryAgain(): Promise<void> {
    const next = this.#aside.next();
    if (next === undefined || next.dueAt > performance.now()) return;
    try {
      await this.#recomputation.again(next, { upTo: this.#committed, round: this.#clock.take(1) });
    } catch (error) {
      this.#aside.putOff(next);
      this.#observer.rollupFailed({ error });
    }
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

  #changed(): void {
    this.#observer.rollupPending({ traces: this.#traces.size });
  }
}

function setOf(items: readonly WaitingItem[]): DirtySet {
  const set = new DirtySet();
  for (const item of items) set.add(item);
  return set;
}
