import { DomainError } from '../../errors.js';
import { remainingQuota } from '../../work/fair-quota.js';
import { UNBOUNDED, type DiskSpace } from './disk-space.js';
import type { Flusher } from './flusher.js';
import type { SegmentLog } from './log/segment-log.js';
import { logFailing, logFull, overloaded, uncertain } from './refusals.js';
import type { UnflushedWrites } from './unflushed-writes.js';

export interface WriteLimits {
  /** Bytes in the log that ClickHouse does not hold yet, shared as those of the queue. */
  readonly logMaxBytes: number;
}

/** Whether a project was deleted: nothing is written to it anymore. */
export type IsGone = (projectId: string) => boolean;

export interface WriteGateParts {
  readonly limits: WriteLimits;
  readonly writes: UnflushedWrites;
  readonly flusher: Flusher;
  /** Null: a request is acknowledged when ClickHouse holds it. */
  readonly log: SegmentLog | null;
  readonly space?: Pick<DiskSpace, 'requireSpace' | 'requireFree'>;
  readonly isGone?: IsGone;
}

/** Refuses writes that cannot be stored, before work is spent on them. */
export class WriteGate {
  readonly #parts: WriteGateParts;
  readonly #space: Pick<DiskSpace, 'requireSpace' | 'requireFree'>;
  /** How many bytes more of a project may wait to be acknowledged. */
  readonly #room: (projectId: string) => number;
  #closed = false;
  /** Why nothing is taken for now; null: it is. */
  #refusal: DomainError | null = null;

  constructor(parts: WriteGateParts, room: (projectId: string) => number) {
    this.#parts = parts;
    this.#space = parts.space ?? UNBOUNDED;
    this.#room = room;
  }

  /** Refuses what comes from now on. */
  close(): void {
    this.#closed = true;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** @throws DomainError `unavailable` while the disk is full */
  requireSpace(): void {
    this.#space.requireSpace();
  }

  /** @throws DomainError `unavailable` while the disk is full or writes are refused, also for deletions */
  requireRoom(): void {
    this.requireOpen();
    this.requireSpace();
  }

  /** Refuses all that would be written from now on, with an error of its own; null: takes it again. */
  refuse(refusal: DomainError | null): void {
    this.#refusal = refusal;
  }

  /** @throws DomainError `unavailable` while writes are refused */
  requireOpen(): void {
    const refusal = this.#refusal;
    if (refusal === null) return;
    const { retryAfterSeconds = 1, reason = 'unavailable' } = refusal;
    throw new DomainError(refusal.kind, refusal.message, { retryAfterSeconds, reason });
  }

  /** @throws DomainError what keeps a write of the project from being stored now, whatever is written */
  admit(projectId: string): void {
    this.#requireReady(projectId);
    this.#space.requireFree();
  }

  /** Whether writes are acknowledged without ClickHouse. */
  get takesAlone(): boolean {
    if (this.#parts.log === null) return false;
    try {
      this.admit('');
      return true;
    } catch {
      return false;
    }
  }

  /** @throws DomainError what keeps writes of the project from being stored now */
  requireTaken(projectId: string, deletes: boolean): void {
    // Little room is no reason to keep what is to be deleted.
    if (deletes) this.#requireReady(projectId);
    else this.admit(projectId);
  }

  /** @throws what {@link admit} throws, except for little room */
  #requireReady(projectId: string): void {
    const { isGone, log, flusher, writes, limits } = this.#parts;
    if (this.#closed) throw new DomainError('unavailable', 'The server is stopping.', { retryAfterSeconds: 5 });
    if (isGone?.(projectId) === true) throw new DomainError('not_found', 'The project was deleted.');
    this.requireOpen();
    this.requireSpace();
    if (log === null && flusher.failing) throw uncertain();
    if (log?.failing === true) throw logFailing();
    if (this.#room(projectId) <= 0) throw overloaded();
    const share = { limit: limits.logMaxBytes, taken: writes.bytes, ofParty: writes.bytesOf(projectId) };
    if (log !== null && writes.bytes > 0 && remainingQuota(share) <= 0) throw flusher.away ? logFull() : overloaded();
  }
}
