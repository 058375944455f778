import { DomainError } from '../../../domain/errors.js';
import type { WriteLog, WriteReceipt } from '../../../domain/ingest/write-log.js';
import type { CommitObserver } from '../../../observability/events/storage.js';
import type { ClickHouseClient } from '../client/client.js';
import type { CommitFollower } from './commit-follower.js';
import { touchedBy, type CommitRequest } from './commit-group.js';
import { UNBOUNDED, type DiskSpace } from './disk-space.js';
import { CommitQueue } from './commit-queue.js';
import { CommitBatcher } from './commit-batcher.js';
import { GroupWriter } from './group-writer.js';
import { overloaded, tooLarge, uncertain } from './refusals.js';
import { TooManyBytesError } from './row-binary.js';
import { RowEncoder, type AppendedWrites, type EncodedRows } from './rows.js';
import type { VersionClock } from './version-clock.js';
import { WriteWatch } from './write-watch.js';

export type { CommitObserver } from '../../../observability/events/storage.js';

export interface CommitLimits {
  /** A commit takes no further request once it holds this many rows or bytes. */
  readonly maxRows: number;
  readonly maxBytes: number;
  /** Bytes that one request may take once it is encoded; a larger one is refused. */
  readonly maxRequestBytes: number;
  /** How long a commit lingers for more requests while commits are short, see CommitBatcher; 0: never. */
  readonly waitMs: number;
  /** Bytes that may wait, of all projects; one project may hold at most as many as are left free. */
  readonly queueMaxBytes: number;
}

/** Whether a project was deleted: nothing is written to it any more. */
export type IsGone = (projectId: string) => boolean;

/**
 * Group commit. What concurrent requests append while one commit is under way is written by the next in one insert per
 * table, and each request is answered once its commit is durable. Commits run one after another, so that versions grow
 * in the order in which writes become visible.
 */
export class CommitLog implements WriteLog {
  readonly #limits: CommitLimits;
  readonly #follower: CommitFollower;
  readonly #observer: CommitObserver;
  readonly #space: Pick<DiskSpace, 'demand' | 'demandFor'>;
  readonly #isGone: IsGone;
  readonly #encoder = new RowEncoder();
  readonly #batcher: CommitBatcher;
  readonly #watches = new Set<WriteWatch>();
  /** One promise for each request that is accepted and neither committed nor refused yet. */
  readonly #pending = new Set<Promise<unknown>>();
  readonly #queue: CommitQueue<CommitRequest>;
  readonly #writer: GroupWriter;
  #running: Promise<void> | null = null;
  /** The last work between two commits; commits go on when it has ended. */
  #between: Promise<unknown> = Promise.resolve();
  /** The last commit. */
  #committing: Promise<unknown> = Promise.resolve();
  #anotherWrites = (): void => undefined;
  #closed = false;
  /** Why nothing is taken for now; null: it is. */
  #refusal: DomainError | null = null;

  constructor(
    client: ClickHouseClient,
    clock: VersionClock,
    limits: CommitLimits,
    follower: CommitFollower,
    observer: CommitObserver,
    space: Pick<DiskSpace, 'demand' | 'demandFor'> = UNBOUNDED,
    isGone: IsGone = () => false,
    othersRead: () => boolean = () => false,
  ) {
    this.#limits = limits;
    this.#queue = new CommitQueue(limits.queueMaxBytes);
    this.#batcher = new CommitBatcher(limits.waitMs, othersRead);
    this.#follower = follower;
    this.#observer = observer;
    this.#space = space;
    this.#isGone = isGone;
    const release = (requests: readonly CommitRequest[]) => this.#release(requests);
    this.#writer = new GroupWriter({ client, clock, follower, observer, space, release });
  }

  /** Whether it is known what failed inserts left behind; while it is not, reads and writes have to wait. */
  get certain(): boolean {
    return this.#writer.certain;
  }

  /** @throws DomainError `unavailable` while the disk is full or writes are refused, as {@link append} does for deletions, too */
  demandRoom(): void {
    this.demandOpen();
    this.#space.demand();
  }

  /** Refuses all that would be written from now on, with an error of its own; null: takes it again. */
  refuse(refusal: DomainError | null): void {
    this.#refusal = refusal;
  }

  /** @throws DomainError `unavailable` while writes are refused */
  demandOpen(): void {
    const refusal = this.#refusal;
    if (refusal === null) return;
    const { retryAfterSeconds = 1, reason = 'unavailable' } = refusal;
    throw new DomainError(refusal.kind, refusal.message, { retryAfterSeconds, reason });
  }

  admit(projectId: string): void {
    this.#demandReady(projectId);
    this.#space.demandFor(this.#queue.held.bytes);
  }

  async append(writes: AppendedWrites): Promise<WriteReceipt> {
    // Little room is no reason to keep what is to be deleted.
    const deletes = deletesAlone(writes);
    if (deletes) this.#demandReady(writes.projectId);
    else this.admit(writes.projectId);
    const tables = this.#encode(writes);
    const bytes = tables.reduce((sum, table) => sum + table.bytes.length, 0);
    const rows = tables.reduce((sum, table) => sum + table.versionOffsets.length, 0);
    if (rows === 0) return { createdAt: [] };
    for (const watch of this.#watches) watch.note(writes);
    const stored = new Promise<WriteReceipt>((resolve, reject) => {
      const { projectId } = writes;
      const tracePoint = this.#observer.tracing?.here();
      const request = { projectId, tables, touched: touchedBy(writes), deletes, rows, bytes, tracePoint };
      this.#queue.add({ ...request, resolve, reject });
      this.#observer.queueChanged(this.#queue.held);
      this.#batcher.arrived();
      if (!this.#follower.isFull(projectId)) this.#anotherWrites();
      this.#running ??= this.#run();
    });
    const ended = () => this.#pending.delete(stored);
    this.#pending.add(stored);
    stored.then(ended, ended);
    return stored;
  }

  /**
   * Watches what is written to a project. Once this resolves, what was accepted before is committed or refused, so that a
   * read sees it, and what has been accepted since is noted. The caller ends the watch.
   */
  async watch(projectId: string): Promise<WriteWatch> {
    const watch = new WriteWatch(projectId, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    await this.idle();
    return watch;
  }

  /** Resolves once what was accepted before is committed or refused. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }

  /**
   * Runs work between two commits: what was acknowledged before is stored, and nothing more gets stored until the work
   * ends. Requests wait for that.
   * @throws DomainError `unavailable` while it is not known what is stored
   */
  async between<T>(work: () => Promise<T>): Promise<T> {
    const turn = Promise.allSettled([this.#between, this.#committing]).then(() => {
      if (!this.#writer.certain) throw uncertain();
      return work();
    });
    this.#between = turn.catch(() => undefined);
    return turn;
  }

  /** Refuses what comes from now on and resolves once everything accepted is committed. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  /** @throws what {@link admit} throws, but for little room */
  #demandReady(projectId: string): void {
    if (this.#closed) throw new DomainError('unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
    if (this.#isGone(projectId)) throw new DomainError('not_found', 'The project was deleted.');
    this.demandOpen();
    this.#space.demand();
    if (!this.#writer.certain) throw uncertain();
    if (this.#queue.room(projectId) <= 0) throw overloaded();
  }

  /** @throws DomainError `too_large`, `overloaded`, both before memory is spent on what does not fit */
  #encode(writes: AppendedWrites): EncodedRows[] {
    const { maxRequestBytes } = this.#limits;
    const room = this.#queue.room(writes.projectId);
    try {
      return this.#encoder.encode(writes, Math.min(room, maxRequestBytes));
    } catch (error) {
      if (!(error instanceof TooManyBytesError)) throw error;
      throw room < maxRequestBytes ? overloaded() : tooLarge(maxRequestBytes);
    }
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#batcher.wait(() => ({ requests: this.#queue.length, rows: this.#queue.held.rows }));
      await this.#mayCommit();
      const group = this.#queue.nextGroup(this.#limits, (projectId) => this.#follower.isFull(projectId));
      if (group.length === 0) {
        await this.#progress();
        continue;
      }
      const started = performance.now();
      await (this.#committing = this.#writer.commit(group));
      const ms = performance.now() - started;
      this.#batcher.committed({ answered: group.length, waiting: this.#queue.length, ms });
      if (!this.#writer.certain) await this.#repair();
    }
    this.#running = null;
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
    let waiting = true;
    const progress = this.#follower.progress().catch((error: unknown) => {
      if (waiting) this.#writer.refuse(this.#queue.takeAll(), error);
    });
    const another = new Promise<void>((resolve) => (this.#anotherWrites = resolve));
    await Promise.race([progress, another]);
    waiting = false;
  }

  async #repair(): Promise<void> {
    this.#writer.turnAway(this.#queue.takeAll(), uncertain());
    await this.#writer.repair(() => this.#closed);
  }

  #release(requests: readonly CommitRequest[]): void {
    for (const request of requests) this.#queue.release(request);
    this.#observer.queueChanged(this.#queue.held);
  }
}

function deletesAlone({ spans = [], traces = [], sessions = [] }: AppendedWrites): boolean {
  return spans.length + traces.length + sessions.length === 0;
}
