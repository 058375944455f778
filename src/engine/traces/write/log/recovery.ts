import { readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { FoundRecord } from './record.js';
import { DamagedLogError, scanSegment, WriteLogError, type SegmentHeader } from './segment.js';
import type { Place, Segment } from './segment-file.js';

const SEGMENT_NAME = /^\d{12}\.log$/;

/** The log of an earlier version, or of another database: it can only be stored by the server that it is of. */
export class ForeignLogError extends WriteLogError {
  constructor(directory: string, said: string) {
    super(`${directory} holds spans that were acknowledged and are not stored yet, ${said}`);
    this.name = 'ForeignLogError';
  }
}

/** A record of an earlier run that may not be stored. */
export interface RecoveredRecord {
  readonly place: Place;
  readonly head: FoundRecord['head'];
  readonly bytes: number;
}

/** The log that is opened: its folder, and what its rows must be encoded for. */
interface OwnLog {
  readonly directory: string;
  readonly schema: number;
  readonly store: string;
}

/** The names of the segments in a directory, in the order in which they were written. */
export async function segmentNames(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => SEGMENT_NAME.test(name)).sort();
}

/**
 * Finds what earlier runs have left in segments, and removes those that hold nothing.
 * @throws DamagedLogError, ForeignLogError
 */
export async function recoverSegments(
  own: OwnLog,
  names: readonly string[],
): Promise<{ segments: Segment[]; recovered: RecoveredRecord[] }> {
  const ends = await endsOf(own.directory, names);
  const segments: Segment[] = [];
  const recovered: RecoveredRecord[] = [];
  for (const name of names) {
    const records = await recordsOf(own, name, ends.get(name) ?? null);
    const [first] = records;
    if (first === undefined) continue;
    segments.push(first.place.segment);
    for (const record of records) recovered.push(record);
  }
  return { segments, recovered };
}

/** What of a segment counts, from which what does not is cut; none: the segment is removed. */
async function recordsOf(own: OwnLog, name: string, countsTo: number | null): Promise<RecoveredRecord[]> {
  const path = join(own.directory, name);
  const read: (Pick<FoundRecord, 'offset' | 'length' | 'head'> & { readonly bytes: number })[] = [];
  const { header, end, damagedAt } = await scanSegment(
    path,
    ({ head, offset, length, tables }) => {
      const bytes = tables.reduce((sum, table) => sum + table.bytes.length, 0);
      read.push({ offset, length, head, bytes });
    },
    countsTo,
  );
  if (damagedAt !== null) throw new DamagedLogError(path, damagedAt);
  const mark = Buffer.from(header?.mark ?? '', 'hex');
  const first = read.reduce((least, { head }) => Math.min(least, head.first), Infinity);
  const columns = header?.columns ?? null;
  const segment: Segment = { name, path, first, waiting: read.length, sealed: true, end, mark, columns };
  const found = read.map(({ offset, length, head, bytes }) => ({ place: { segment, offset, length }, head, bytes }));
  if (header === null || found.length === 0) {
    await rm(path, { force: true });
    return [];
  }
  requireOwn(own, header);
  // What was being written when the machine stopped was not acknowledged, and is never looked at again.
  await truncate(path, end);
  return found;
}

function requireOwn(own: OwnLog, { schema, store }: SegmentHeader): void {
  if (store !== own.store)
    throw new ForeignLogError(own.directory, `in ${store}: start the server once with that setting, then stop it`);
  if (schema > own.schema)
    throw new ForeignLogError(own.directory, 'by a newer version of the server: start that version once, then stop it');
}

/**
 * For a start without a log.
 * @throws ForeignLogError when an earlier run with one has left something that may not be stored
 */
export async function requireEmptyLog(directory: string): Promise<void> {
  const names = await segmentNames(directory).catch(() => []);
  if (names.length > 0)
    throw new ForeignLogError(
      directory,
      'in ClickHouse: start the server once with CLICKHOUSE_WRITE_LOG=true, then stop it',
    );
}

/** Up to where segments count, as those behind them say. */
export async function endsOf(directory: string, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const ends = new Map<string, number>();
  for (const name of names) {
    const { header } = await scanSegment(join(directory, name), () => undefined, 0);
    for (const [other, end] of Object.entries(header?.ends ?? {})) ends.set(other, end);
  }
  return ends;
}
