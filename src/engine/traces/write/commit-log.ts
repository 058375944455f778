import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../errors.js';
import type { WriteLog, WriteReceipt } from '../model/write-log.js';
import type { CommitFollower } from './commit-follower.js';
import { sizeOf, stamp, type CommitRequest } from './commit-group.js';
import { CommitQueue } from './commit-queue.js';
import { CommitWriter } from './commit-writer.js';
import { deletesAlone, encodeWrites, type EncodedLog, type EncodedWrites } from './encoded-writes.js';
import { overloaded, tooLarge, uncertain } from './refusals.js';
import { TooManyBytesError } from './row-binary.js';
import { RowEncoder, type AppendedWrites } from './rows.js';
import type { VersionClock } from './version-clock.js';
import { WriteGate, type WriteGateParts, type WriteLimits } from './write-gate.js';
import { WriteWatch, type NamedWrites } from './write-watch.js';
import type { Signals } from '../../signals/signals.js';

export interface CommitLogParts extends WriteGateParts {
  readonly clock: VersionClock;
  readonly limits: CommitLimits;
  readonly follower: CommitFollower;
  readonly observer: Pick<Signals, 'spansCommitted' | 'commitFailed' | 'queueChanged' | 'tracing'>;
}

export interface CommitLimits extends WriteLimits {
  /** A commit takes no further request once it holds this many rows or bytes. */
  readonly maxRows: number;
  readonly maxBytes: number;
  /** Bytes that one request may take once it is encoded; a larger one is refused. */
  readonly maxRequestBytes: number;
  /** Bytes that may wait to be acknowledged, of all projects; one project may hold at most as many as are left free. */
  readonly queueMaxBytes: number;
}

/** The share of the queue that work in the background takes at once. */
const EASY_SHARE = 0.25;
/** A project's writes wait while ClickHouse is behind by so many rows: who reads it next waits for their flush. */
const MAX_BEHIND_ROWS = 10_000;

/**
 * Group commit. What concurrent requests append while one commit is in progress is written by the next, to the log or, where
 * there is none, to ClickHouse; each request is answered once its commit is durable. Commits run one after another, so that
 * versions grow in the order in which writes become visible.
 */
export class CommitLog implements WriteLog, EncodedLog {
  readonly #parts: CommitLogParts;
  /** Refuses what cannot be stored now. */
  readonly gate: WriteGate;
  readonly #encoder = new RowEncoder();
  readonly #writer: CommitWriter;
  readonly #watches = new Set<Pick<WriteWatch, 'note'>>();
  /** One promise for each request that is accepted and neither committed nor refused yet, with its project once it is queued. */
  readonly #pending = new Map<Promise<unknown>, string | null>();
  readonly #queue: CommitQueue<CommitRequest>;
  #running: Promise<void> | null = null;
  /** The last work between two commits; commits go on when it has ended. */
  #between: Promise<unknown> = Promise.resolve();
  /** The last commit. */
  #committing: Promise<unknown> = Promise.resolve();
  #anotherWrites = (): void => undefined;
  /** Until when writes do not wait for rounds, which fail. */
  #roundsFailUntil = -Infinity;

  constructor(parts: CommitLogParts) {
    this.#parts = parts;
    this.#writer = new CommitWriter(parts);
    this.#queue = new CommitQueue(parts.limits.queueMaxBytes);
    this.gate = new WriteGate(parts, (projectId) => this.#queue.room(projectId));
  }

  admit(projectId: string): void {
    this.gate.admit(projectId);
  }

  async append(writes: AppendedWrites): Promise<WriteReceipt> {
    this.gate.requireTaken(writes.projectId, deletesAlone(writes));
    return this.#queued(this.#encode(writes));
  }

  async appendEncoded(writes: EncodedWrites): Promise<WriteReceipt> {
    this.gate.requireTaken(writes.projectId, writes.deletes);
    if (writes.bytes > this.#queue.room(writes.projectId)) throw overloaded();
    return this.#queued(writes);
  }

  /** @param projectId null: it is not known yet */
  underWay<T>(request: Promise<T>, projectId: string | null = null): Promise<T> {
    const ended = () => this.#pending.delete(request);
    this.#pending.set(request, projectId);
    request.then(ended, ended);
    return request;
  }

  /** Tells of everything that is written, for good, in the turn of the event loop in which it is queued. */
  onQueued(note: (named: NamedWrites) => void): void {
    this.#watches.add({ note });
  }

  /**
   * Watches what is written to a project. Once this resolves, what was accepted before is acknowledged or refused, so that a
   * read sees it, and what has been accepted since is noted. The caller ends the watch.
   */
  async watch(projectId: string): Promise<WriteWatch> {
    const watch = new WriteWatch(projectId, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    await this.idle();
    return watch;
  }

  /** Resolves once what was accepted before is acknowledged or refused. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#pending.keys());
  }

  /** Resolves once what was queued before of a project is acknowledged or refused. */
  async idleOf(projectId: string): Promise<void> {
    await Promise.allSettled([...this.#pending].flatMap(([request, of]) => (of === projectId ? [request] : [])));
  }

  /** How many bytes the rows of one call of {@link append} may take, so that there is room for them beside others. */
  get easyBytes(): number {
    const { maxRequestBytes, queueMaxBytes } = this.#parts.limits;
    return Math.min(maxRequestBytes, queueMaxBytes * EASY_SHARE);
  }

  /**
   * Runs work between two commits: ClickHouse holds all that was acknowledged before, and nothing more gets stored until the
   * work ends. Requests wait for that.
   * @throws DomainError `unavailable` when ClickHouse does not answer
   */
  async between<T>(work: () => Promise<T>): Promise<T> {
    // Most of it before requests have to wait.
    await this.#parts.flusher.flush();
    const turn = Promise.allSettled([this.#between, this.#committing]).then(async () => {
      await within(MAX_HELD_MS, this.#parts.flusher.flush());
      return work();
    });
    this.#between = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Resolves once ClickHouse holds all that was acknowledged before, and no file of the log holds it anymore: what is removed
   * from ClickHouse then cannot come back by a restart.
   */
  async forgotten(): Promise<void> {
    const { log, flusher } = this.#parts;
    await log?.seal();
    // What was appended last is among what is flushed by the next turn.
    await nextTurn();
    await flusher.flush();
    await log?.removed();
  }

  /** Refuses what comes from now on and resolves once everything accepted is committed. */
  async close(): Promise<void> {
    this.gate.close();
    await this.#running;
    await this.#parts.flusher.close();
    await this.#parts.log?.close();
  }

  /** @throws DomainError `too_large`, `overloaded`, both before memory is spent on what does not fit */
  #encode(writes: AppendedWrites): EncodedWrites {
    const { maxRequestBytes } = this.#parts.limits;
    const room = this.#queue.room(writes.projectId);
    try {
      return encodeWrites(writes, this.#encoder, Math.min(room, maxRequestBytes));
    } catch (error) {
      if (!(error instanceof TooManyBytesError)) throw error;
      throw room < maxRequestBytes ? overloaded() : tooLarge(maxRequestBytes);
    }
  }

  /** Queues writes for the next commit, and has watches note them in the same turn of the event loop: deletions rely on it. */
  #queued({ named, ...writes }: EncodedWrites): Promise<WriteReceipt> | WriteReceipt {
    if (writes.rows === 0) return { createdAt: [] };
    for (const watch of this.#watches) watch.note(named);
    const stored = new Promise<WriteReceipt>((resolve, reject) => {
      const tracePoint = this.#parts.observer.tracing?.here();
      this.#queue.add({ ...writes, tracePoint, resolve, reject });
      this.#parts.observer.queueChanged(this.#queue.held);
      if (!this.#mustWait(writes.projectId)) this.#anotherWrites();
      this.#running ??= this.#run();
    });
    return this.underWay(stored, writes.projectId);
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#mayCommit();
      const group = this.#queue.nextGroup(this.#parts.limits, (projectId) => this.#mustWait(projectId));
      if (group.length === 0) await this.#progress();
      else await (this.#committing = this.#commit(group));
      if (this.#parts.log === null && this.#parts.flusher.failing) await this.#recover();
    }
    this.#running = null;
  }

  /** Without a log: refuses what waits until what a failed insert left is whole. */
  async #recover(): Promise<void> {
    const { flusher } = this.#parts;
    while (flusher.failing && !this.gate.isClosed) {
      const waiting = this.#queue.takeAll();
      this.#release(waiting);
      for (const request of waiting) request.reject(uncertain());
      await sleep(LOOK_AGAIN_MS);
    }
  }

  /**
   * Whether a project's writes wait until ClickHouse, or rounds, have come closer: else its next reader would. While ClickHouse is
   * away, no one reads, and the log takes what it may.
   */
  #mustWait(projectId: string): boolean {
    const { writes, flusher, log, follower } = this.#parts;
    if (log !== null && (this.gate.isClosed || flusher.away || performance.now() < this.#roundsFailUntil)) return false;
    return writes.rowsOf(projectId) > MAX_BEHIND_ROWS || follower.isFull(projectId, writes.tracesOf(projectId));
  }

  /** Resolves when nothing goes on between two commits. The caller begins its commit in the same turn. */
  async #mayCommit(): Promise<void> {
    for (let awaited: unknown; awaited !== this.#between;) {
      awaited = this.#between;
      await awaited;
    }
  }

  /** Waits, as every project that writes has to, until one of them need not any more or another project writes. */
  async #progress(): Promise<void> {
    const { flusher, follower, writes } = this.#parts;
    const unflushed = this.#queue.projects.some((projectId) => writes.rowsOf(projectId) > 0);
    let waiting = true;
    const progress = (unflushed ? flusher.next() : follower.progress()).catch((error: unknown) => {
      if (!waiting) return;
      if (this.#parts.log === null) this.#refuse(this.#queue.takeAll(), error);
      // The log takes them anyway.
      else this.#roundsFailUntil = performance.now() + ROUNDS_FAIL_MS;
    });
    const another = new Promise<void>((resolve) => (this.#anotherWrites = resolve));
    let timer: NodeJS.Timeout | undefined;
    const lookAgain = new Promise<void>((resolve) => (timer = setTimeout(resolve, LOOK_AGAIN_MS)));
    await Promise.race([progress, another, lookAgain]);
    clearTimeout(timer);
    waiting = false;
  }

  /** Never rejects: whatever happens, each request is answered, and the next commit can begin. */
  async #commit(group: readonly CommitRequest[]): Promise<void> {
    const { observer, clock } = this.#parts;
    const started = performance.now();
    const { rows, bytes } = sizeOf(group);
    try {
      // On a full disk, the room that is left is for reads and for merges of rows that are stored.
      this.gate.requireSpace();
      const stamped = stamp(group, clock.take(rows));
      const write = () => this.#writer.write(stamped);
      const { tracing } = observer;
      const refused = await (tracing === undefined
        ? write()
        : tracing.commit(
            group.map(({ tracePoint }) => tracePoint),
            { rows, bytes },
            write,
          ));
      this.#release(group);
      const deletes = group.every((request) => request.deletes);
      observer.spansCommitted({ rows, bytes, deletes, seconds: (performance.now() - started) / 1000 });
      for (const { request, receipt } of stamped) {
        const error = refused.get(request);
        if (error === undefined) request.resolve(receipt);
        else request.reject(error);
      }
    } catch (error) {
      this.#refuse(group, error);
    }
  }

  #refuse(group: readonly CommitRequest[], error: unknown): void {
    this.#parts.observer.commitFailed({ rows: sizeOf(group).rows, error });
    this.#release(group);
    for (const request of group) request.reject(error);
  }

  #release(requests: readonly CommitRequest[]): void {
    for (const request of requests) this.#queue.release(request);
    this.#parts.observer.queueChanged(this.#queue.held);
  }
}

const LOOK_AGAIN_MS = 250;
const ROUNDS_FAIL_MS = 2_000;
/** Requests wait no longer for work between two commits to begin. */
const MAX_HELD_MS = 10_000;

/** @throws DomainError `unavailable` when it takes longer */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DomainError('unavailable', 'ClickHouse did not respond in time')), ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
