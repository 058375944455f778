import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Rows of one table, encoded with their versions. */
export interface LoggedRows<Table extends string = string> {
  readonly table: Table;
  readonly bytes: Buffer;
}

/** What a record says of a request beside its rows. */
export interface RecordHead {
  readonly projectId: string;
  /** The version of the first row; the others follow it one by one. */
  readonly first: number;
  readonly rows: number;
  /** Whether the request deletes, and writes nothing. */
  readonly deletes: boolean;
  readonly traces: readonly string[];
  readonly sessions: readonly string[];
}

/** One request, as the log holds it. */
export interface LogRecord extends RecordHead {
  readonly tables: readonly LoggedRows[];
}

/** A record that was read, and where it lies. */
export interface FoundRecord {
  readonly offset: number;
  readonly length: number;
  readonly head: RecordHead;
  /** Up to where the segment was known to be on the disk when the record was written. */
  readonly syncedTo: number;
  readonly tables: readonly LoggedRows[];
}

/**
 * A record: the mark, the length of what follows the checksum, the CRC-32 of that; then the length of the head, the head as
 * JSON, and the rows of each table. Lengths are little-endian and have 32 bits. The mark is random and its segment's own: a
 * client that knew it could send texts that look like records where a write was torn.
 */
const MARK_BYTES = 8;
const PREFIX = MARK_BYTES + 8;

export const newMark = (): Buffer => randomBytes(MARK_BYTES);

/** The head as it is stored. */
interface StoredHead {
  readonly p: string;
  readonly v: number;
  readonly n: number;
  readonly d?: 1;
  readonly t: readonly string[];
  readonly s: readonly string[];
  /** Where the segment is synced to. */
  readonly e: number;
  readonly b: readonly (readonly [table: string, bytes: number])[];
}

/** Encodes a record in pieces, without copying its rows. */
export function encodeRecord(record: LogRecord, syncedTo: number, mark: Buffer): Buffer[] {
  const { projectId, first, rows, deletes, traces, sessions, tables } = record;
  const stored: StoredHead = {
    ...{ p: projectId, v: first, n: rows, t: traces, s: sessions, e: syncedTo },
    ...(deletes && { d: 1 as const }),
    b: tables.map(({ table, bytes }) => [table, bytes.length]),
  };
  const head = Buffer.from(JSON.stringify(stored));
  const prefix = Buffer.allocUnsafe(PREFIX + 4);
  const length = 4 + head.length + tables.reduce((sum, { bytes }) => sum + bytes.length, 0);
  mark.copy(prefix);
  prefix.writeUInt32LE(length, MARK_BYTES);
  prefix.writeUInt32LE(head.length, PREFIX);
  let sum = crc32(head, crc32(prefix.subarray(PREFIX)));
  for (const { bytes } of tables) sum = crc32(bytes, sum);
  prefix.writeUInt32LE(sum, MARK_BYTES + 4);
  return [prefix, head, ...tables.map(({ bytes }) => bytes)];
}

/** The whole length of the record that begins with these bytes; null: none does, or too little of it is there to tell. */
export function recordLength(prefix: Buffer, mark: Buffer): number | null {
  if (prefix.length < PREFIX || prefix.compare(mark, 0, MARK_BYTES, 0, MARK_BYTES) !== 0) return null;
  return PREFIX + prefix.readUInt32LE(MARK_BYTES);
}

export const RECORD_PREFIX = PREFIX;

/** Reads a record. @param bytes all of it @returns null where it is damaged */
export function decodeRecord(bytes: Buffer, offset: number, mark: Buffer): FoundRecord | null {
  if (recordLength(bytes, mark) !== bytes.length || bytes.length < PREFIX + 4) return null;
  const body = bytes.subarray(PREFIX);
  if (crc32(body) !== bytes.readUInt32LE(MARK_BYTES + 4)) return null;
  const headLength = body.readUInt32LE(0);
  const stored = JSON.parse(body.toString('utf8', 4, 4 + headLength)) as StoredHead;
  let at = 4 + headLength;
  const tables = stored.b.map(([table, length]) => ({ table, bytes: body.subarray(at, (at += length)) }));
  const { p: projectId, v: first, n: rows, t: traces, s: sessions, e: syncedTo } = stored;
  const head = { projectId, first, rows, deletes: stored.d === 1, traces, sessions };
  return { offset, length: bytes.length, head, syncedTo, tables };
}
