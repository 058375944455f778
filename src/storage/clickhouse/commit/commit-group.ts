import type { WriteReceipt } from '../../../domain/ingest/write-log.js';
import type { TracePoint } from '../../../observability/tracing.js';
import type { Touched } from './commit-follower.js';
import type { Queued } from './commit-queue.js';
import { writeUint64 } from './row-binary.js';
import type { AppendedWrites, EncodedRows, TableName } from './rows.js';
import { versionTime, type Version } from './version-clock.js';

/** A request whose rows wait for a commit, or are being committed with those of others: a group. */
export interface CommitRequest extends Queued {
  readonly tables: readonly EncodedRows[];
  readonly touched: Touched;
  /** Whether it deletes, and writes nothing: as a rule, no client waits for it alone. */
  readonly deletes: boolean;
  /** Where the request is traced, if it is. */
  readonly tracePoint?: TracePoint | undefined;
  resolve(receipt: WriteReceipt): void;
  reject(error: unknown): void;
}

/** In this order: the facts of a span come from its row by materialized view. */
const TABLES: readonly TableName[] = ['spans', 'facts', 'session_statements'];

/** How much a group holds. */
export function sizeOf(group: readonly CommitRequest[]): { readonly rows: number; readonly bytes: number } {
  const rows = group.reduce((sum, request) => sum + request.rows, 0);
  const bytes = group.reduce((sum, request) => sum + request.bytes, 0);
  return { rows, bytes };
}

/** The inserts of a group of requests, in the order of the tables. */
export function insertsOf(
  group: readonly CommitRequest[],
): { readonly table: TableName; readonly rows: readonly Buffer[] }[] {
  return TABLES.flatMap((table) => {
    const rows = group.flatMap(({ tables }) =>
      tables.filter((encoded) => encoded.table === table).map(({ bytes }) => bytes),
    );
    return rows.length === 0 ? [] : [{ table, rows }];
  });
}

/** Gives every row its version, and every request the times of its spans. */
export function stamp(group: readonly CommitRequest[], first: Version): WriteReceipt[] {
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

/** The traces and sessions of its project that a request changes. */
export function touchedBy({
  projectId,
  spans,
  traces,
  sessions,
  tombstones,
  deletedSessions,
}: AppendedWrites): Touched {
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
