import type { CommitFollower } from './commit-follower.js';
import { recordOf, writeOf, type CommitRequest, type StampedRequest } from './commit-group.js';
import type { Flusher } from './flusher.js';
import type { Place } from './log/segment-file.js';
import type { SegmentLog } from './log/segment-log.js';
import { logFailing } from './refusals.js';
import type { StampedWrite, UnflushedWrites } from './unflushed-writes.js';

export interface CommitWriterParts {
  readonly writes: UnflushedWrites;
  readonly flusher: Flusher;
  /** Null: groups go to ClickHouse at once. */
  readonly log: SegmentLog | null;
  readonly follower: Pick<CommitFollower, 'acknowledged'>;
}

/** Makes groups of requests durable: in the log or, where there is none, in ClickHouse. */
export class CommitWriter {
  readonly #parts: CommitWriterParts;

  constructor(parts: CommitWriterParts) {
    this.#parts = parts;
  }

  /** @returns the requests of the group that are refused, with the reason */
  write(stamped: readonly StampedRequest[]): Promise<ReadonlyMap<CommitRequest, unknown>> {
    return this.#parts.log === null ? this.#store(stamped) : this.#append(stamped);
  }

  /** Writes a group to the log. @returns the requests of the group that are refused: none */
  async #append(stamped: readonly StampedRequest[]): Promise<ReadonlyMap<CommitRequest, unknown>> {
    const places = await this.#logged(stamped);
    const writes = stamped.map((each, index) => writeOf(each, places[index] ?? null));
    this.#parts.writes.add(writes);
    this.#acknowledge(writes);
    this.#parts.flusher.added();
    return new Map();
  }

  /** @throws DomainError `unavailable` when the log cannot be written to */
  async #logged(stamped: readonly StampedRequest[]): Promise<readonly Place[]> {
    try {
      return (await this.#parts.log?.append(stamped.map(recordOf))) ?? [];
    } catch (error) {
      throw logFailing(error);
    }
  }

  /** Writes a group to ClickHouse. @returns the requests whose rows it cannot read, with its error */
  async #store(stamped: readonly StampedRequest[]): Promise<ReadonlyMap<CommitRequest, unknown>> {
    const writes = stamped.map((each) => writeOf(each, null));
    const refused = new Map<CommitRequest, unknown>();
    try {
      await this.#parts.flusher.storeNow(writes, (write, error) => {
        const found = stamped[writes.indexOf(write)];
        if (found !== undefined) refused.set(found.request, error);
      });
    } finally {
      // Of what was refused, and may be stored anyway, states show nothing before it is sent again.
      this.#acknowledge(writes);
    }
    return refused;
  }

  /** Lets reads see writes, in the turn of the event loop in which states know that they wait or are stored. */
  #acknowledge(writes: readonly StampedWrite[]): void {
    this.#parts.writes.acknowledge(writes.at(-1)?.last ?? 0);
    this.#parts.follower.acknowledged(writes.map(({ touched }) => touched));
  }
}
