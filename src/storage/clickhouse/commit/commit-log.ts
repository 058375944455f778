import { DomainError } from '../../../domain/errors.js';
import type { WriteLog, WriteReceipt } from '../../../domain/ingest/write-log.js';
import type { CommitObserver } from '../../../observability/events/storage.js';
import { InsertError, type ClickHouseClient } from '../client/client.js';
import type { DiskSpace } from './disk-reserve.js';
import { CommitQueue, type Queued } from './commit-queue.js';
import { CommitBatcher } from './commit-batcher.js';
import { TooManyBytesError, writeUint64 } from './row-binary.js';
import { insertedColumns, RowEncoder, type AppendedWrites, type EncodedRows, type TableName } from './rows.js';
import { versionTime, type Version, type VersionClock } from './version-clock.js';
import { WriteWatch } from './write-watch.js';

export type { CommitObserver } from '../../../observability/events/storage.js';

export interface CommitLimits {
  /** A commit takes no further request once it holds this many rows or bytes. */
  readonly maxRows: number;
  readonly maxBytes: number;
  /** What one request may take once it is encoded; more is refused. */
  readonly maxRequestBytes: number;
  /** How long a commit lingers for more requests while commits are short, see CommitBatcher; 0: never. */
  readonly waitMs: number;
  /** What may wait; a project has at most as much of it as is left free. */
  readonly queueMaxBytes: number;
}

/** Whether a project was deleted: nothing is written to it any more. */
export type IsGone = (projectId: string) => boolean;

/** The traces and sessions that a commit changed, by project. */
export interface Touched {
  readonly projectId: string;
  readonly traces: ReadonlySet<string>;
  readonly sessions: ReadonlySet<string>;
}

/** Who has to know of commits: the rollups. */
export interface CommitFollower {
  /** Whether it has so much to do for a project that its writes must wait, and nobody else's. */
  isFull(projectId: string): boolean;
  /** Resolves once some of what it has to do is done; rejects when the store does not answer. */
  progress(): Promise<void>;
  /** Called after a commit is durable and before it is acknowledged. */
  committed(touched: readonly Touched[], upTo: Version): void;
  /**
   * Called when an insert with versions up to `upTo` failed in a way that may have left it half done. Brings spans and
   * facts back into agreement; rejects when the store does not answer.
   */
  repair(upTo: Version): Promise<void>;
}

interface Request extends Queued {
  readonly tables: readonly EncodedRows[];
  readonly touched: Touched;
  resolve(receipt: WriteReceipt): void;
  reject(error: unknown): void;
}

/** In this order: the facts of a span come from its row by materialized view. */
const TABLES: readonly TableName[] = ['spans', 'facts', 'session_statements'];
const REPAIR_RETRY_MS = 250;

/**
 * Group commit. What concurrent requests append while one commit is under way is written by the next in one insert per
 * table, and each request is answered once its commit is durable. Commits run one after another, so that versions grow
 * in the order in which writes become visible.
 */
export class CommitLog implements WriteLog {
  readonly #client: ClickHouseClient;
  readonly #clock: VersionClock;
  readonly #limits: CommitLimits;
  readonly #follower: CommitFollower;
  readonly #observer: CommitObserver;
  readonly #space: Pick<DiskSpace, 'demand'>;
  readonly #isGone: IsGone;
  readonly #encoder = new RowEncoder();
  readonly #batcher: CommitBatcher;
  readonly #watches = new Set<WriteWatch>();
  /** Of what is accepted and neither committed nor refused. */
  readonly #pending = new Set<Promise<unknown>>();
  readonly #queue: CommitQueue<Request>;
  #running: Promise<void> | null = null;
  #anotherWrites = (): void => undefined;
  #uncertain = false;
  #closed = false;

  constructor(
    client: ClickHouseClient,
    clock: VersionClock,
    limits: CommitLimits,
    follower: CommitFollower,
    observer: CommitObserver,
    space: Pick<DiskSpace, 'demand'> = { demand: () => undefined },
    isGone: IsGone = () => false,
    othersRead: () => boolean = () => false,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#limits = limits;
    this.#queue = new CommitQueue(limits.queueMaxBytes);
    this.#batcher = new CommitBatcher(limits.waitMs, othersRead);
    this.#follower = follower;
    this.#observer = observer;
    this.#space = space;
    this.#isGone = isGone;
  }

  /** False while it is not known what a failed insert left behind; reads and writes then have to wait. */
  get certain(): boolean {
    return !this.#uncertain;
  }

  /** @throws DomainError `unavailable` while the disk is full, as {@link append} does */
  demandRoom(): void {
    this.#space.demand();
  }

  admit(projectId: string): void {
    if (this.#closed) throw new DomainError('unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
    if (this.#isGone(projectId)) throw new DomainError('not_found', 'The project was deleted.');
    this.#space.demand();
    if (this.#uncertain) throw uncertain();
    if (this.#queue.room(projectId) <= 0) throw overloaded();
  }

  async append(writes: AppendedWrites): Promise<WriteReceipt> {
    this.admit(writes.projectId);
    const tables = this.#encode(writes);
    const bytes = tables.reduce((sum, table) => sum + table.bytes.length, 0);
    const rows = tables.reduce((sum, table) => sum + table.versionOffsets.length, 0);
    if (rows === 0) return { createdAt: [] };
    for (const watch of this.#watches) watch.note(writes);
    const stored = new Promise<WriteReceipt>((resolve, reject) => {
      const { projectId } = writes;
      this.#queue.add({ projectId, tables, touched: touchedBy(writes), rows, bytes, resolve, reject });
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

  /** Refuses what comes from now on and resolves once everything accepted is committed. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
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
      const group = this.#queue.nextGroup(this.#limits, (projectId) => this.#follower.isFull(projectId));
      if (group.length === 0) {
        await this.#progress();
        continue;
      }
      const started = performance.now();
      await this.#commit(group);
      const ms = performance.now() - started;
      this.#batcher.committed({ answered: group.length, waiting: this.#queue.length, ms });
      if (this.#uncertain) await this.#repair();
    }
    this.#running = null;
  }

  /** While every project that writes has to wait: until one need not any more, or another writes. */
  async #progress(): Promise<void> {
    let waiting = true;
    const progress = this.#follower.progress().catch((error: unknown) => {
      if (waiting) this.#refuse(this.#queue.takeAll(), error);
    });
    const another = new Promise<void>((resolve) => (this.#anotherWrites = resolve));
    await Promise.race([progress, another]);
    waiting = false;
  }

  /** Never rejects: whatever happens, each request is answered, and the next commit can begin. */
  async #commit(group: readonly Request[]): Promise<void> {
    const started = performance.now();
    const rows = group.reduce((sum, request) => sum + request.rows, 0);
    const bytes = group.reduce((sum, request) => sum + request.bytes, 0);
    let receipts: readonly WriteReceipt[];
    try {
      // What room there is now is for what is stored already.
      this.#space.demand();
      const first = this.#clock.take(rows);
      receipts = stamp(group, first);
      await this.#insert(group);
      this.#follow(group, first + rows - 1);
    } catch (error) {
      if (group.length > 1 && error instanceof InsertError && error.unreadable && !this.#uncertain)
        await this.#commitApart(group);
      else this.#refuse(group, error);
      return;
    }
    this.#release(group);
    this.#observer.spansCommitted({ rows, bytes, seconds: (performance.now() - started) / 1000 });
    group.forEach((request, index) => {
      request.resolve(receipts[index] ?? { createdAt: [] });
    });
  }

  /** The store cannot read the rows of one request, and does not say of which: the others are not to suffer from it. */
  async #commitApart(group: readonly Request[]): Promise<void> {
    const half = Math.ceil(group.length / 2);
    await this.#commit(group.slice(0, half));
    const rest = group.slice(half);
    if (this.#uncertain) this.#refuse(rest, uncertain());
    else await this.#commit(rest);
  }

  #refuse(group: readonly Request[], error: unknown): void {
    const rows = group.reduce((sum, request) => sum + request.rows, 0);
    this.#observer.commitFailed({ rows, error });
    this.#turnAway(group, error);
  }

  #turnAway(requests: readonly Request[], error: unknown): void {
    this.#release(requests);
    for (const request of requests) request.reject(error);
  }

  async #insert(group: readonly Request[]): Promise<void> {
    for (const [index, { table, rows }] of insertsOf(group).entries()) {
      try {
        await this.#client.insert(table, insertedColumns[table], 'RowBinary', rows);
      } catch (error) {
        // The tables before this one hold their share already; if none does, and this one certainly has nothing either,
        // there is nothing to repair.
        if (index > 0 || !(error instanceof InsertError && error.outcome === 'none')) this.#uncertain = true;
        throw error;
      }
    }
  }

  /** Tells the follower of what is stored; if it fails, rows and figures have to be brought into agreement. */
  #follow(group: readonly Request[], upTo: Version): void {
    try {
      this.#follower.committed(
        group.map(({ touched }) => touched),
        upTo,
      );
    } catch (error) {
      this.#uncertain = true;
      throw error;
    }
  }

  async #repair(): Promise<void> {
    this.#turnAway(this.#queue.takeAll(), uncertain());
    while (this.#uncertain) {
      try {
        await this.#follower.repair(this.#clock.last);
        this.#uncertain = false;
      } catch (error) {
        this.#observer.repairFailed({ error });
        if (this.#closed) return;
        await new Promise((resolve) => setTimeout(resolve, REPAIR_RETRY_MS));
      }
    }
  }

  #release(requests: readonly Request[]): void {
    for (const request of requests) this.#queue.release(request);
    this.#observer.queueChanged(this.#queue.held);
  }
}

/** What a group inserts, in the order of the tables. */
function insertsOf(group: readonly Request[]): { readonly table: TableName; readonly rows: readonly Buffer[] }[] {
  return TABLES.flatMap((table) => {
    const rows = group.flatMap(({ tables }) =>
      tables.filter((encoded) => encoded.table === table).map(({ bytes }) => bytes),
    );
    return rows.length === 0 ? [] : [{ table, rows }];
  });
}

/** Gives every row its version, and every request the times of its spans. */
function stamp(group: readonly Request[], first: Version): WriteReceipt[] {
  let next = first;
  return group.map(({ tables }) => {
    const createdAt: number[] = [];
    for (const { table, bytes, versionOffsets } of tables) {
      for (const offset of versionOffsets) {
        writeUint64(bytes, offset, next);
        if (table === 'spans') createdAt.push(versionTime(next));
        next += 1;
      }
    }
    return { createdAt };
  });
}

function touchedBy({ projectId, spans, traces, sessions, tombstones, deletedSessions }: AppendedWrites): Touched {
  return {
    projectId,
    traces: new Set([
      ...(spans ?? []).map((span) => span.trace_id),
      ...(traces ?? []).map((trace) => trace.id),
      ...(tombstones ?? []).map((tombstone) => tombstone.trace_id),
    ]),
    sessions: new Set([...(sessions ?? []).map((session) => session.id), ...(deletedSessions ?? [])]),
  };
}

function overloaded(): DomainError {
  return new DomainError(
    'overloaded',
    'More is waiting to be stored than the queue holds, in all or for one project. Send again later.',
    {
      retryAfterSeconds: 1,
    },
  );
}

function tooLarge(maxBytes: number): DomainError {
  return new DomainError(
    'too_large',
    `What the request wants stored takes more than ${maxBytes} bytes once every span carries what it shares: send smaller batches`,
  );
}

function uncertain(): DomainError {
  return new DomainError('unavailable', 'The store is being brought back into order after a failure. Send again.', {
    retryAfterSeconds: 1,
  });
}
