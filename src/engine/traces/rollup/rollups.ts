import { RETRIES } from '../../work/backoff.js';
import type { Governor } from '../../work/governor.js';
import { insertsEnded, reconcileFacts } from '../write/facts-of-spans.js';
import type { StampedWrite } from '../write/unflushed-writes.js';
import type { Version, VersionClock } from '../write/version-clock.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { among, type CommittedState, type ReadsInProgress, type Wanted } from '../read/reads-in-progress.js';
import { AsideRetry } from './aside-retry.js';
import type { DirtyItem } from './dirty-set.js';
import { changedSince, findOwnSuccessors, forgetOwnSuccessors } from './recovery.js';
import { MAX_UNSETTLED } from './read-budget.js';
import { Recomputation } from './recomputation.js';
import { RollupPressure } from './rollup-pressure.js';
import { runRound } from './rollup-round.js';
import { RoundSchedule } from './round-schedule.js';
import { SetAside, type NotCurrent } from './set-aside.js';
import { UnsettledChanges, type StoredState } from './unsettled-changes.js';
import { Watermark } from './watermark.js';
import type { Signals } from '../../signals/signals.js';

/** How often the watermark is moved on at most: each time costs a small insert. */
const WATERMARK_MS = 2000;

export interface RollupLimits {
  /** Memory of a statement that recomputes; null: the server's own limit. */
  readonly maxMemoryBytes: number | null;
  /** After how long an item that was set aside may be tried again; default ten seconds. */
  readonly retryMs?: number;
}

/** What waits to be stored. */
export interface WriteState extends StoredState {
  /** The version up to which everything is acknowledged. */
  readonly acknowledged: Version;
  /** Resolves once ClickHouse holds everything acknowledged of a project; rejects when it does not answer. Default: of all. */
  flush(projectId?: string): Promise<void>;
}

export interface RollupsParts {
  readonly client: ClickHouseClient;
  readonly clock: VersionClock;
  readonly writes: WriteState;
  /** The reads for whose sake rolled-up rows stay as they are. */
  readonly reads: Pick<ReadsInProgress, 'oldestStill' | 'ended'>;
  readonly governor: Governor;
  readonly observer: Signals;
  readonly limits: RollupLimits;
}

/**
 * Keeps the rollups in step with what is stored. A flush only marks its traces; they are recomputed in rounds by
 * materialized views, soon by themselves, and at once when someone waits for them. A trace that grows span by span is so
 * not recomputed for each.
 *
 * Lists do not wait: of the traces that are not rolled up as of the last flush they read the facts, in place of what is
 * rolled up. So that the rest is as it was then, a round takes only what had changed before every read in progress began.
 */
export class Rollups {
  readonly #client: ClickHouseClient;
  readonly #observer: Signals;
  readonly #writes: WriteState;
  readonly #changes: UnsettledChanges;
  readonly #pressure: RollupPressure;
  readonly #schedule: RoundSchedule;
  readonly #watermark: Watermark;
  readonly #aside: SetAside;
  readonly #retry: AsideRetry;

  constructor({ client, clock, writes, reads, governor, observer, limits }: RollupsParts) {
    this.#client = client;
    this.#observer = observer;
    this.#writes = writes;
    const changes = new UnsettledChanges(writes);
    const pressure = new RollupPressure(changes, governor);
    this.#changes = changes;
    this.#pressure = pressure;
    this.#watermark = new Watermark(client);
    this.#aside = new SetAside(client, clock, observer, limits.retryMs ?? RETRIES.large.firstMs);
    const recomputation = new Recomputation(client, clock, this.#aside, limits.maxMemoryBytes);
    this.#retry = new AsideRetry(this.#aside, recomputation, observer, () => ({
      upTo: (projectId) => changes.storedUpTo(projectId),
      round: clock.take(1),
    }));
    const parts = { clock, reads, governor, changes, pressure, recomputation, observer };
    this.#schedule = new RoundSchedule({
      run: (awaited, large) => runRound(parts, awaited, large),
      left: () => changes.waiting > 0,
      ended: (done) => this.#roundEnded(done),
    });
  }

  /** Call when ClickHouse holds writes, in the turn of the event loop in which the state shows them. */
  stored(writes: readonly StampedWrite[]): void {
    const projects = new Set<string>();
    for (const { projectId, touched, first: since, last, unsure = false } of writes) {
      projects.add(projectId);
      for (const id of touched.traces) {
        this.#changes.markTrace({ projectId, id, since, last, removed: !unsure && touched.removed.has(id) });
        this.#aside.written('trace', { projectId, id });
      }
      for (const id of touched.sessions) {
        this.#changes.markSession({ projectId, id, since, last });
        this.#aside.written('session', { projectId, id });
      }
    }
    this.#changed();
    this.#schedule.committed([...projects].some((projectId) => this.#pressure.isPressing(projectId)));
  }

  isFull(projectId: string, unflushed = 0): boolean {
    return this.#pressure.isFull(projectId, unflushed);
  }

  async progress(): Promise<void> {
    await this.#schedule.next();
  }

  /**
   * Resolves once every write acknowledged before the call is in the rollups, except for what is set aside. What other
   * projects write is not waited for.
   * @param projectId default: all projects
   * @param large whether few large rounds are better than the answer soon
   * @returns the version up to which all commits are in the rollups.
   */
  async settle(projectId?: string, large = false): Promise<Version> {
    await this.#writes.flush(projectId);
    const stored = this.#changes.storedUpTo(projectId);
    await this.#schedule.until(projectId, () => this.settled(projectId) >= stored, large);
    return this.settled(projectId);
  }

  /** Does work in which much is written, and settled as `large`: rounds wait for more of it. */
  inLargeRounds<T>(projectId: string, work: () => Promise<T>): Promise<T> {
    return this.#schedule.awaiting(projectId, true, work);
  }

  /**
   * Settles some traces of a project, as {@link settle} does projects, without what they bring to their sessions. Other
   * traces that the project writes to are not waited for either.
   */
  async settleTraces(projectId: string, ids: readonly string[]): Promise<Version> {
    const stored = this.#changes.storedUpTo(projectId);
    const since = (id: string) => this.#changes.sinceOfTrace({ projectId, id });
    await this.#schedule.until(projectId, () => ids.every((id) => since(id) > stored));
    return stored;
  }

  /** The version up to which all commits are in the rollups right now. @param projectId default: those of all projects */
  settled(projectId?: string): Version {
    return this.#changes.settled(projectId);
  }

  /** The stored state of a project, which can be read at once. */
  committedOf(projectId: string): CommittedState {
    return this.#changes.committedOf(projectId);
  }

  /**
   * Resolves once ClickHouse holds what was acknowledged of a project, and its unsettled traces can be read from their facts: the
   * figures of those that are set aside cannot, and too many, as one request may hold, would take too long.
   */
  async readable(projectId: string, { figures, traces: ids }: Wanted): Promise<void> {
    await this.#writes.flush(projectId);
    if (ids === null && this.#changes.tracesOf(projectId) > MAX_UNSETTLED) await this.settle(projectId);
    if (!figures) return;
    const { traces: aside } = this.#aside.notCurrent(projectId);
    const wanted = among(aside, ids);
    if (wanted.length > 0) await this.settleTraces(projectId, wanted);
  }

  /** Call when replaced or deleted versions are gone. */
  purged(): void {
    this.#aside.purged();
    this.#retry.schedule();
  }

  /** The traces and sessions of a project that are not current, as some are set aside. */
  notCurrent(projectId: string): NotCurrent {
    return this.#aside.notCurrent(projectId);
  }

  /** Resolves once nothing that is set aside of a project is tried again: the project is deleted. */
  async forget(projectId: string): Promise<void> {
    this.#aside.forget(projectId);
    await this.#retry.ended();
    // An item whose try failed meanwhile was set aside again.
    this.#aside.forget(projectId);
  }

  /**
   * Makes spans, facts and rollups agree after a crash. Every step may be done twice, or be interrupted and done again. What the log
   * still holds follows later.
   */
  async recover(): Promise<void> {
    await insertsEnded(this.#client);
    await this.#watermark.load();
    await reconcileFacts(this.#client, this.#watermark.version);
    await this.#aside.load();
    const reinstated = await findOwnSuccessors(this.#client);
    const { traces, sessions } = await changedSince(this.#client, this.#watermark.version);
    const since = this.#watermark.version + 1;
    // Of a trace, more may be stored than its project is up to.
    const last = this.#writes.acknowledged;
    for (const { projectId, id } of [...reinstated, ...traces]) this.#changes.markTrace({ projectId, id, since, last });
    for (const { projectId, id } of sessions) this.#changes.markSession({ projectId, id, since, last });
    this.#changed();
    await this.#schedule.until(undefined, () => this.settled() >= this.#changes.storedUpTo());
    if (reinstated.length > 0) await forgetOwnSuccessors(this.#client);
    this.#retry.schedule();
  }

  /** Recomputes traces and sessions that no one has written to, and waits for it. */
  async recompute({
    traces,
    sessions,
  }: {
    traces: readonly DirtyItem[];
    sessions: readonly DirtyItem[];
  }): Promise<void> {
    const marked = (item: DirtyItem) => {
      const last = this.#changes.storedUpTo(item.projectId);
      return { ...item, since: last, last };
    };
    for (const trace of traces) this.#changes.markTrace(marked(trace));
    for (const session of sessions) this.#changes.markSession(marked(session));
    this.#changed();
    await this.settle();
  }

  /** Rolls up all unsettled changes. When that fails, everything acknowledged is stored anyway: the next start rolls it up. */
  async close(): Promise<void> {
    this.#schedule.close();
    await this.#retry.close();
    try {
      await this.settle();
      await this.#moveWatermark(0);
    } catch (error) {
      this.#observer.rollupFailed({ error });
    }
  }

  #roundEnded(done: boolean): void {
    this.#retry.schedule();
    if (!done) return;
    // No one waits for it, and one that fails is made up for by the next.
    this.#moveWatermark(WATERMARK_MS).catch((error: unknown) => {
      this.#observer.rollupFailed({ error });
    });
  }

  async #moveWatermark(interval: number): Promise<void> {
    await this.#watermark.move(this.#schedule.underWay ? null : this.settled(), interval);
  }

  #changed(): void {
    this.#observer.rollupPending({ traces: this.#changes.waitingTraces });
  }
}
