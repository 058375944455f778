import type { WriteReceipt } from '../model/write-log.js';
import type { TracePoint } from '../../signals/tracing.js';
import type { LogRecord } from './log/record.js';
import type { RecoveredRecord } from './log/recovery.js';
import type { Place } from './log/segment-file.js';
import type { Queued } from './commit-queue.js';
import type { EncodedWrites } from './encoded-writes.js';
import { writeUint64 } from './row-binary.js';
import { STORED_IN } from './table-columns.js';
import type { StampedWrite } from './unflushed-writes.js';
import { versionTime, type Version } from './version-clock.js';

/** A request whose rows wait for a commit, or are being committed with those of others: a group. */
export interface CommitRequest extends Queued, Omit<EncodedWrites, 'named'> {
  /** Where the request is traced, if it is. */
  readonly tracePoint?: TracePoint | undefined;
  resolve(receipt: WriteReceipt): void;
  reject(error: unknown): void;
}

interface Sized {
  readonly rows: number;
  readonly bytes: number;
}

/** How much a group holds. */
export function sizeOf(group: readonly Sized[]): Sized {
  const rows = group.reduce((sum, each) => sum + each.rows, 0);
  const bytes = group.reduce((sum, each) => sum + each.bytes, 0);
  return { rows, bytes };
}

/** A request whose rows have their versions. */
export interface StampedRequest {
  readonly request: CommitRequest;
  readonly first: Version;
  /** When each of its spans was taken in. */
  readonly receipt: WriteReceipt;
}

/** Gives every row its version, and every request the times of its spans. */
export function stamp(group: readonly CommitRequest[], from: Version): StampedRequest[] {
  let next = from;
  return group.map((request) => {
    const first = next;
    const createdAt: number[] = [];
    const scoredAt: number[] = [];
    const { tables } = request;
    for (const { table, bytes, versionOffsets } of tables) {
      for (const offset of versionOffsets) {
        writeUint64(bytes, offset, next);
        if (STORED_IN[table] === 'spans') createdAt.push(versionTime(next));
        if (table === 'scores') scoredAt.push(versionTime(next));
        next += 1;
      }
    }
    return { request, first, receipt: { createdAt, ...(scoredAt.length > 0 && { scoredAt }) } };
  });
}

/** The record of a request in the log. */
export function recordOf({ request, first }: StampedRequest): LogRecord {
  const { projectId, rows, deletes, tables, touched } = request;
  return { projectId, first, rows, deletes, tables, traces: [...touched.traces], sessions: [...touched.sessions] };
}

/** A request as it waits for ClickHouse. @param place where the log has it; null: nowhere */
export function writeOf({ request, first }: StampedRequest, place: Place | null): StampedWrite {
  const { projectId, rows, bytes, deletes, tables, touched } = request;
  return { projectId, first, last: first + rows - 1, rows, bytes: bytes + HELD_BYTES, touched, deletes, place, tables };
}

/** What a request takes of memory while it waits, beside its rows. */
const HELD_BYTES = 600;

/** A request of an earlier run that may not be stored. */
export function recoveredWrite({ place, head, bytes }: RecoveredRecord): StampedWrite {
  const { projectId, first, rows, deletes, traces, sessions } = head;
  const touched = { projectId, traces: new Set(traces), removed: new Set<string>(), sessions: new Set(sessions) };
  return {
    projectId,
    first,
    last: first + rows - 1,
    rows,
    bytes: bytes + HELD_BYTES,
    touched,
    deletes,
    place,
    tables: null,
    unsure: true,
  };
}
