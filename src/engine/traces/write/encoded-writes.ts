import type { WriteReceipt } from '../model/write-log.js';
import type { Touched } from './commit-follower.js';
import type { AppendedWrites, EncodedRows, RowEncoder } from './rows.js';
import type { NamedWrites } from './write-watch.js';

/** The writes of one request as a commit takes them: what is made of them without a store, in whichever thread. */
export interface EncodedWrites {
  readonly projectId: string;
  readonly tables: readonly EncodedRows[];
  readonly rows: number;
  /** Size of all rows. */
  readonly bytes: number;
  readonly touched: Touched;
  /** Whether it deletes, and writes nothing: as a rule, no client waits for it alone. */
  readonly deletes: boolean;
  /** Their ids; kept no longer than until they are queued. */
  readonly named: NamedWrites;
}

/** A log that takes what another thread has encoded. */
export interface EncodedLog {
  /** As `append` of a `WriteLog`. */
  appendEncoded(writes: EncodedWrites): Promise<WriteReceipt>;
  /** Counts a request as accepted from now on until it is settled, though its writes are being encoded yet. @returns the same */
  underWay<T>(request: Promise<T>): Promise<T>;
}

/**
 * Encodes writes. It knows nothing of what else is written: whether they are taken is for `CommitLog` to say.
 * @param maxBytes the most that all rows together may take
 * @throws TooManyBytesError as soon as they take more
 */
export function encodeWrites(writes: AppendedWrites, encoder: RowEncoder, maxBytes: number): EncodedWrites {
  const { projectId } = writes;
  const tables = encoder.encode(writes, maxBytes);
  return {
    projectId,
    tables,
    rows: tables.reduce((sum, table) => sum + table.versionOffsets.length, 0),
    bytes: tables.reduce((sum, table) => sum + table.bytes.length, 0),
    touched: touchedBy(writes),
    deletes: deletesAlone(writes),
    named: writes,
  };
}

/** Whether writes delete, and store nothing. */
export function deletesAlone({ spans = [], traces = [], sessions = [], scores = [] }: AppendedWrites): boolean {
  return spans.length + traces.length + sessions.length + scores.length === 0;
}

/** The traces and sessions of its project that a request changes. */
function touchedBy({
  projectId,
  spans,
  traces,
  sessions,
  tombstones,
  removedTraces,
  deletedSessions,
}: AppendedWrites): Touched {
  const written = new Set([
    ...(spans ?? []).map((span) => span.trace_id),
    ...(traces ?? []).map((trace) => trace.id),
    ...(tombstones ?? []).map((tombstone) => tombstone.trace_id),
  ]);
  const removed = new Set((removedTraces ?? []).map(({ trace_id }) => trace_id).filter((id) => !written.has(id)));
  return {
    projectId,
    traces: removed.size === 0 ? written : new Set([...written, ...removed]),
    removed,
    sessions: new Set([...(sessions ?? []).map((session) => session.id), ...(deletedSessions ?? [])]),
  };
}
