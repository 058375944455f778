import { open, type FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { decodeRecord, RECORD_PREFIX, recordLength, type FoundRecord } from './record.js';

/** By kind of rows, the columns that they are encoded in. */
export type LoggedColumns = Readonly<Record<string, readonly string[]>>;

/** What a segment says of itself. */
export interface SegmentHeader {
  /** The version of the schema that its rows are encoded for. */
  readonly schema: number;
  /** What its rows hold, as versions of the server add columns; absent: what they held before segments said so. */
  readonly columns?: LoggedColumns;
  /** The database that its rows are for. */
  readonly store: string;
  /** What its records begin with, in hexadecimal. */
  readonly mark: string;
  /** How much counts of each segment that was there before it, by name: a write to it may have failed. */
  readonly ends: Readonly<Record<string, number>>;
  /** Whether it was made of what could be read of a damaged one: it is shorter than the next segment says. */
  readonly salvaged?: true;
}

const MAGIC = Buffer.from('SPANLOG1');
const HEADER_PREFIX = MAGIC.length + 8;
/** Bytes that are read at once. */
const CHUNK = 4 * 1024 * 1024;

/** A log that a server cannot start with. Its message is fit to print before exiting with 1. */
export class WriteLogError extends Error {}

/** A segment of the log that cannot be read, though all that it held was acknowledged. */
export class DamagedLogError extends WriteLogError {
  constructor(file: string, offset: number) {
    super(
      `${file} is damaged at byte ${offset}: spans that were acknowledged, and may not be stored yet, cannot be read. ` +
        'Restore the file from a copy, or run "npm run admin -- recover-log", which keeps what can be read and says what is lost',
    );
    this.name = 'DamagedLogError';
  }
}

export function encodeHeader(header: SegmentHeader): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(HEADER_PREFIX);
  MAGIC.copy(prefix);
  prefix.writeUInt32LE(json.length, MAGIC.length);
  prefix.writeUInt32LE(crc32(json), MAGIC.length + 4);
  return Buffer.concat([prefix, json]);
}

/** What a segment holds. */
export interface ScannedSegment {
  /** Null: the segment was interrupted while it was made, and holds nothing. */
  readonly header: SegmentHeader | null;
  /** Where the whole records end. */
  readonly end: number;
  /** The first byte that is not part of a whole record, though later ones or later syncs say that it was; null: none. */
  readonly damagedAt: number | null;
}

/**
 * Reads a segment.
 * @param each called with each whole record, those behind a damage included
 * @param saidEnd how much of it counts, as the next segment says; null: no one says, so its end may be torn
 */
export async function scanSegment(
  path: string,
  each: (record: FoundRecord) => void,
  saidEnd: number | null,
): Promise<ScannedSegment> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const start = await readHeader(file, size);
    if (start === null) return { header: null, end: 0, damagedAt: (await isUnfinished(file, size)) ? null : 0 };
    const countsTo = start.header.salvaged === true ? null : saidEnd;
    const range = {
      from: start.end,
      to: Math.min(size, countsTo ?? size),
      mark: Buffer.from(start.header.mark, 'hex'),
    };
    const found = await scanRecords(file, range, each);
    const cutOff = countsTo !== null && found.end < countsTo && found.damagedAt === null;
    if (cutOff) found.unproven.forEach(each);
    return { header: start.header, end: found.end, damagedAt: cutOff ? found.end : found.damagedAt };
  } finally {
    await file.close();
  }
}

async function readHeader(file: FileHandle, size: number): Promise<{ header: SegmentHeader; end: number } | null> {
  if (size < HEADER_PREFIX) return null;
  const prefix = await readAt(file, 0, HEADER_PREFIX);
  if (prefix.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) !== 0) return null;
  const end = HEADER_PREFIX + prefix.readUInt32LE(MAGIC.length);
  if (end > size) return null;
  const json = await readAt(file, HEADER_PREFIX, end - HEADER_PREFIX);
  if (crc32(json) !== prefix.readUInt32LE(MAGIC.length + 4)) return null;
  return { header: JSON.parse(json.toString()) as SegmentHeader, end };
}

/** Whether a file without a readable header was interrupted while that was written, before any record was. */
async function isUnfinished(file: FileHandle, size: number): Promise<boolean> {
  if (size < HEADER_PREFIX) return true;
  const prefix = await readAt(file, 0, HEADER_PREFIX);
  if (prefix.every((byte) => byte === 0)) return true;
  const isHeader = prefix.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) === 0;
  return isHeader && HEADER_PREFIX + prefix.readUInt32LE(MAGIC.length) > size;
}

/**
 * Reads whole records one after another. Where one is none, looks for the next: records are written several at once, and after
 * a crash of the machine any part of the last write may be missing. Damage is what an earlier sync had made sure of.
 */
async function scanRecords(
  file: FileHandle,
  { from, to, mark }: { readonly from: number; readonly to: number; readonly mark: Buffer },
  each: (record: FoundRecord) => void,
): Promise<{ end: number; damagedAt: number | null; unproven: readonly FoundRecord[] }> {
  /** Whole records behind a part that is none: of a write that was not acknowledged, unless something proves otherwise. */
  const unproven: FoundRecord[] = [];
  let window: Buffer = Buffer.alloc(0);
  let windowAt = from;
  let at = from;
  let brokenAt: number | null = null;
  let damagedAt: number | null = null;
  const have = async (bytes: number) => {
    const wanted = Math.min(bytes, to - at);
    if (at - windowAt + wanted > window.length || at < windowAt) {
      window = await readAt(file, at, Math.min(Math.max(CHUNK, wanted), to - at));
      windowAt = at;
    }
    return window.subarray(at - windowAt, at - windowAt + wanted);
  };
  while (at < to) {
    const length = recordLength(await have(RECORD_PREFIX), mark);
    const record = length === null || length > to - at ? null : decodeRecord(await have(length), at, mark);
    if (record !== null) {
      if (brokenAt !== null && record.syncedTo > brokenAt) damagedAt ??= brokenAt;
      if (brokenAt !== null) unproven.push(record);
      if (brokenAt === null) each(record);
      else if (damagedAt !== null) unproven.splice(0).forEach(each);
      at += record.length;
      continue;
    }
    brokenAt ??= at;
    const rest = await have(CHUNK);
    const next = rest.indexOf(mark, 1);
    // A mark may begin with the last bytes of the window.
    at += next === -1 ? Math.max(1, rest.length - RECORD_PREFIX) : next;
    if (next === -1 && rest.length <= RECORD_PREFIX) break;
  }
  return { end: brokenAt ?? at, damagedAt, unproven };
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(buffer, read, length - read, position + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}

/** Reads one record of which it is known where it lies. @throws DamagedLogError */
export async function readRecord(
  file: FileHandle,
  { path, mark, offset, length }: { path: string; mark: Buffer; offset: number; length: number },
): Promise<FoundRecord> {
  const record = decodeRecord(await readAt(file, offset, length), offset, mark);
  if (record === null) throw new DamagedLogError(path, offset);
  return record;
}
