import type { WriteReceipt } from '../../../domain/ingest/write-log.js';
import type { CommitObserver } from '../../../observability/events/storage.js';
import { InsertError, type ClickHouseClient } from '../client/client.js';
import type { CommitFollower } from './commit-follower.js';
import { insertsOf, sizeOf, stamp, type CommitRequest } from './commit-group.js';
import type { DiskSpace } from './disk-space.js';
import { uncertain } from './refusals.js';
import { insertedColumns } from './rows.js';
import type { Version, VersionClock } from './version-clock.js';

const REPAIR_RETRY_MS = 250;

export interface GroupWriterParts {
  readonly client: ClickHouseClient;
  readonly clock: VersionClock;
  readonly follower: CommitFollower;
  readonly observer: Pick<CommitObserver, 'spansCommitted' | 'commitFailed' | 'repairFailed' | 'tracing'>;
  readonly space: Pick<DiskSpace, 'demand'>;
  /** Called before requests are answered: they are neither waiting nor being committed any more. */
  readonly release: (requests: readonly CommitRequest[]) => void;
}

/** Stores one group of requests after another, answers each request, and repairs what a failed insert left behind. */
export class GroupWriter {
  readonly #parts: GroupWriterParts;
  #uncertain = false;

  constructor(parts: GroupWriterParts) {
    this.#parts = parts;
  }

  /** False while it is not known what a failed insert left behind; reads and writes then have to wait. */
  get certain(): boolean {
    return !this.#uncertain;
  }

  /** Never rejects: whatever happens, each request is answered, and the next commit can begin. */
  async commit(group: readonly CommitRequest[]): Promise<void> {
    const started = performance.now();
    const { rows, bytes } = sizeOf(group);
    let receipts: readonly WriteReceipt[];
    try {
      // On a full disk, the room that is left is for reads and for merges of rows that are stored.
      this.#parts.space.demand();
      const first = this.#parts.clock.take(rows);
      receipts = stamp(group, first);
      await this.#store(group, first + rows - 1);
    } catch (error) {
      if (group.length > 1 && error instanceof InsertError && error.unreadable && !this.#uncertain)
        await this.#commitApart(group);
      else this.refuse(group, error);
      return;
    }
    this.#parts.release(group);
    const deletes = group.every((request) => request.deletes);
    this.#parts.observer.spansCommitted({ rows, bytes, deletes, seconds: (performance.now() - started) / 1000 });
    group.forEach((request, index) => {
      request.resolve(receipts[index] ?? { createdAt: [] });
    });
  }

  /** The store cannot read the rows of one request, and does not say of which: the others are not to suffer from it. */
  async #commitApart(group: readonly CommitRequest[]): Promise<void> {
    const half = Math.ceil(group.length / 2);
    await this.commit(group.slice(0, half));
    const rest = group.slice(half);
    if (this.#uncertain) this.refuse(rest, uncertain());
    else await this.commit(rest);
  }

  /** Answers a group that could not be stored, and reports it. */
  refuse(group: readonly CommitRequest[], error: unknown): void {
    this.#parts.observer.commitFailed({ rows: sizeOf(group).rows, error });
    this.turnAway(group, error);
  }

  /** Answers requests that nothing was tried for. */
  turnAway(requests: readonly CommitRequest[], error: unknown): void {
    this.#parts.release(requests);
    for (const request of requests) request.reject(error);
  }

  async #store(group: readonly CommitRequest[], upTo: Version): Promise<void> {
    const store = async () => {
      await this.#insert(group);
      this.#follow(group, upTo);
    };
    const { tracing } = this.#parts.observer;
    if (tracing === undefined) return store();
    const requests = group.map(({ tracePoint }) => tracePoint);
    return tracing.commit(requests, sizeOf(group), store);
  }

  async #insert(group: readonly CommitRequest[]): Promise<void> {
    for (const [index, { table, rows }] of insertsOf(group).entries()) {
      try {
        await this.#parts.client.insert(table, insertedColumns[table], 'RowBinary', rows);
      } catch (error) {
        // The tables before this one hold their share already; if none does, and this one certainly has nothing either,
        // there is nothing to repair.
        if (index > 0 || !(error instanceof InsertError && error.outcome === 'none')) this.#uncertain = true;
        throw error;
      }
    }
  }

  /** Tells the follower of what is stored; if it fails, rows and figures have to be brought into agreement. */
  #follow(group: readonly CommitRequest[], upTo: Version): void {
    try {
      this.#parts.follower.committed(
        group.map(({ touched }) => touched),
        upTo,
      );
    } catch (error) {
      this.#uncertain = true;
      throw error;
    }
  }

  /** Resolves once what is stored is certain again, or the log is closed. */
  async repair(closed: () => boolean): Promise<void> {
    while (this.#uncertain) {
      try {
        await this.#parts.follower.repair(this.#parts.clock.last);
        this.#uncertain = false;
      } catch (error) {
        this.#parts.observer.repairFailed({ error });
        if (closed()) return;
        await new Promise((resolve) => setTimeout(resolve, REPAIR_RETRY_MS));
      }
    }
  }
}
