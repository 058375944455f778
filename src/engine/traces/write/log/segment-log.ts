import { mkdir, open, readdir, rm, truncate, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../files/sync-folder.js';
import { encodeRecord, newMark, type FoundRecord, type LogRecord } from './record.js';
import {
  DamagedLogError,
  encodeHeader,
  readRecord,
  scanSegment,
  WriteLogError,
  type LoggedColumns,
  type SegmentHeader,
} from './segment.js';

export { DamagedLogError, WriteLogError } from './segment.js';

/** Where a record lies. */
export interface Place {
  readonly segment: Segment;
  readonly offset: number;
  readonly length: number;
}

/** A file of the log. It goes once all of its records are stored elsewhere, and no more are written to it. */
interface Segment {
  readonly name: string;
  readonly path: string;
  /** The version of its first record; Infinity: it has none. */
  first: number;
  /** Records that are not stored elsewhere yet. */
  waiting: number;
  sealed: boolean;
  /** Where what counts ends, once it is sealed. */
  end: number;
  readonly mark: Buffer;
  /** What its rows hold; null: it does not say. */
  readonly columns: LoggedColumns | null;
  /** What reads it, once something is read; closed when it goes. */
  reader?: Promise<FileHandle>;
}

/** The segment that is written to. */
interface Active {
  readonly segment: Segment;
  readonly file: FileHandle;
  readonly begunAt: number;
  /** Where what counts ends. */
  end: number;
}

export interface SegmentLogOptions {
  readonly directory: string;
  /** The version of the schema that rows are encoded for. */
  readonly schema: number;
  /** The database that rows are for, in words. */
  readonly store: string;
  /** What rows hold. */
  readonly columns: LoggedColumns;
  /** Bytes after which a segment is followed by the next. */
  readonly segmentBytes?: number;
  /** How long a segment stays of which everything is stored. */
  readonly idleMs?: number;
}

/** A record of an earlier run that may not be stored. */
export interface RecoveredRecord {
  readonly place: Place;
  readonly head: FoundRecord['head'];
  readonly bytes: number;
}

const SEGMENT_BYTES = 32 * 1024 * 1024;
const IDLE_MS = 1_000;
/** How long after a failed write another segment is begun, at the earliest. */
const RETRY_MS = 1_000;
/** A segment that is older takes no more: what is in it cannot be purged. */
const MAX_AGE_MS = 10_000;
export const SEGMENT_NAME = /^\d{12}\.log$/;

/** The log of an earlier version, or of another database: it can only be stored by the server that it is of. */
export class ForeignLogError extends WriteLogError {
  constructor(directory: string, said: string) {
    super(`${directory} holds spans that were acknowledged and are not stored yet, ${said}`);
    this.name = 'ForeignLogError';
  }
}

/**
 * The write-ahead log: what is appended is on the disk, in segment files, when {@link append} resolves. Of writes that
 * failed it cannot be said what of them is on the disk, and a second sync would not tell, as the system may have dropped the
 * pages: so a segment that failed is left, and the next one says up to where it counts.
 */
export class SegmentLog {
  readonly #options: Required<SegmentLogOptions>;
  readonly #segments: Segment[] = [];
  #active: Active | null = null;
  #number: number;
  #failedAt = -Infinity;
  #idle: NodeJS.Timeout | null = null;
  /** Removals of segments under way, and what ends in them: the closing of segments. */
  readonly #removing = new Set<Promise<void>>();
  #writing = false;
  /** Called when the append under way has ended: the segment is to be sealed. */
  #sealAsked: (() => void)[] = [];

  private constructor(options: SegmentLogOptions, number: number) {
    this.#options = { segmentBytes: SEGMENT_BYTES, idleMs: IDLE_MS, ...options };
    this.#number = number;
  }

  /**
   * Opens the log of a directory, which is made where it is missing, and finds what earlier runs have left.
   * @throws DamagedLogError, ForeignLogError
   */
  static async open(options: SegmentLogOptions): Promise<{ log: SegmentLog; recovered: RecoveredRecord[] }> {
    const { directory } = options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const names = (await readdir(directory)).filter((name) => SEGMENT_NAME.test(name)).sort();
    const log = new SegmentLog(options, Number(names.at(-1)?.slice(0, 12) ?? 0));
    const recovered: RecoveredRecord[] = [];
    const ends = await endsOf(directory, names);
    for (const name of names)
      for (const record of await log.#recover(name, ends.get(name) ?? null)) recovered.push(record);
    return { log, recovered };
  }

  /** The lowest version that a segment may still bring back; Infinity: there is none. */
  get oldest(): number {
    return Math.min(Infinity, ...this.#segments.map(({ first }) => first));
  }

  /** Whether writing has just failed. */
  get failing(): boolean {
    return performance.now() - this.#failedAt < RETRY_MS;
  }

  /**
   * Writes records, in the order of their versions, and syncs them. One call at a time.
   * @throws what the system says; nothing of the records counts then, now and after a restart
   */
  async append(records: readonly LogRecord[]): Promise<Place[]> {
    if (this.#writing) throw new Error('an append is in progress');
    this.#writing = true;
    try {
      const active = (this.#active ??= await this.#begin());
      const pieces: Buffer[] = [];
      const places: Place[] = [];
      let end = active.end;
      for (const record of records) {
        const encoded = encodeRecord(record, active.end, active.segment.mark);
        const length = encoded.reduce((sum, piece) => sum + piece.length, 0);
        places.push({ segment: active.segment, offset: end, length });
        pieces.push(...encoded);
        end += length;
      }
      await writeAll(active.file, pieces, active.end);
      await active.file.datasync();
      active.end = end;
      active.segment.first = Math.min(active.segment.first, records[0]?.first ?? Infinity);
      active.segment.waiting += records.length;
      const isOld = performance.now() - active.begunAt >= MAX_AGE_MS;
      if (end >= this.#options.segmentBytes || isOld || this.#sealAsked.length > 0) await this.#seal();
      return places;
    } catch (error) {
      this.#failedAt = performance.now();
      await this.#active?.file
        .truncate(this.#active.end)
        .then(() => this.#active?.file.datasync())
        .catch(() => undefined);
      await this.#seal();
      throw error;
    } finally {
      this.#writing = false;
      for (const resolve of this.#sealAsked.splice(0)) resolve();
    }
  }

  /** Reads a record. @throws DamagedLogError */
  async read({ segment, offset, length }: Place): Promise<FoundRecord> {
    const reader = (segment.reader ??= open(segment.path, 'r'));
    const file = await reader.catch((error: unknown) => {
      delete segment.reader;
      throw error;
    });
    return readRecord(file, { path: segment.path, mark: segment.mark, offset, length });
  }

  /** What the rows of a record hold; null: its segment does not say. */
  columnsOf({ segment }: Place): LoggedColumns | null {
    return segment.columns;
  }

  /** Keeps a record in a file of its own, which nothing removes. @returns its path */
  async quarantine(place: Place): Promise<string> {
    const { head, tables } = await this.read(place);
    const path = join(this.#options.directory, `${head.first}.refused`);
    const file = await open(path, 'w', 0o600);
    try {
      const pieces = encodeRecord({ ...head, tables }, 0, place.segment.mark);
      await writeAll(file, pieces, 0);
      await file.sync();
    } finally {
      await file.close();
    }
    await syncFolder(this.#options.directory);
    return path;
  }

  /** To be called once for each record that is stored elsewhere for good. */
  stored(places: readonly Place[]): void {
    for (const { segment } of places) segment.waiting -= 1;
    for (const segment of new Set(places.map((place) => place.segment))) this.#removeStored(segment);
    const active = this.#active?.segment;
    if (active === undefined || active.waiting > 0 || active.first === Infinity) return;
    this.#idle ??= setTimeout(() => {
      this.#idle = null;
      if (!this.#writing && this.#active?.segment.waiting === 0) void this.#seal().catch(() => undefined);
    }, this.#options.idleMs).unref();
  }

  /** Has what is appended from now on begin a segment of its own. */
  async seal(): Promise<void> {
    if (this.#writing) await new Promise<void>((resolve) => this.#sealAsked.push(resolve));
    else if (this.#active !== null && this.#active.segment.first !== Infinity) await this.#seal();
  }

  /** Resolves once segments of which everything is stored are removed. */
  async removed(): Promise<void> {
    while (this.#removing.size > 0) await Promise.all(this.#removing);
  }

  async close(): Promise<void> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    await this.#seal();
    await this.removed();
    await Promise.all(this.#segments.map(closeReader));
  }

  async #recover(name: string, countsTo: number | null): Promise<RecoveredRecord[]> {
    const path = join(this.#options.directory, name);
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
    this.#requireOwn(header);
    // What was being written when the machine stopped was not acknowledged, and is never looked at again.
    await truncate(path, end);
    this.#segments.push(segment);
    return found;
  }

  #requireOwn({ schema, store }: SegmentHeader): void {
    const { directory } = this.#options;
    if (store !== this.#options.store)
      throw new ForeignLogError(directory, `in ${store}: start the server once with that setting, then stop it`);
    if (schema > this.#options.schema)
      throw new ForeignLogError(directory, 'by a newer version of the server: start that version once, then stop it');
  }

  async #begin(): Promise<Active> {
    this.#number += 1;
    const { directory, schema, store, columns } = this.#options;
    const name = `${String(this.#number).padStart(12, '0')}.log`;
    const path = join(directory, name);
    const file = await open(path, 'wx', 0o600);
    try {
      const mark = newMark();
      const ends = Object.fromEntries(this.#segments.map((segment) => [segment.name, segment.end]));
      const header = encodeHeader({ schema, columns, store, mark: mark.toString('hex'), ends });
      await writeAll(file, [header], 0);
      await file.datasync();
      await syncFolder(directory);
      const segment: Segment = { name, path, first: Infinity, waiting: 0, sealed: false, end: 0, mark, columns };
      this.#segments.push(segment);
      return { segment, file, begunAt: performance.now(), end: header.length };
    } catch (error) {
      await file.close().catch(() => undefined);
      await rm(path, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  /** Has the next record begin a segment of its own. */
  async #seal(): Promise<void> {
    const active = this.#active;
    if (active === null) return;
    this.#active = null;
    active.segment.end = active.end;
    active.segment.sealed = true;
    const closed = () => {
      // Others are there still where their removal failed.
      for (const segment of this.#segments) this.#removeStored(segment);
    };
    await this.#awaitRemoval(active.file.close().then(closed, closed));
  }

  /** Removes a segment of which everything is stored; until its file is gone, it counts as one that may bring rows back. */
  #removeStored(segment: Segment): void {
    if (!segment.sealed || segment.waiting > 0) return;
    const removal = closeReader(segment)
      .then(() => rm(segment.path, { force: true }))
      .then(() => syncFolder(this.#options.directory))
      .then(
        () => {
          const index = this.#segments.indexOf(segment);
          if (index !== -1) this.#segments.splice(index, 1);
        },
        () => undefined,
      );
    void this.#awaitRemoval(removal);
  }

  /** Has {@link removed} wait for what never rejects. */
  async #awaitRemoval(removal: Promise<void>): Promise<void> {
    this.#removing.add(removal);
    await removal;
    this.#removing.delete(removal);
  }
}

/**
 * For a start without a log.
 * @throws ForeignLogError when an earlier run with one has left something that may not be stored
 */
export async function requireEmptyLog(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  if (names.some((name) => SEGMENT_NAME.test(name)))
    throw new ForeignLogError(
      directory,
      'in ClickHouse: start the server once with CLICKHOUSE_WRITE_LOG=true, then stop it',
    );
}

async function closeReader(segment: Segment): Promise<void> {
  const reader = segment.reader;
  delete segment.reader;
  await reader?.then((file) => file.close()).catch(() => undefined);
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

async function writeAll(file: FileHandle, pieces: readonly Buffer[], position: number): Promise<void> {
  let at = position;
  let left = pieces.filter(({ length }) => length > 0);
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left.slice(0, MAX_PIECES), at);
    at += bytesWritten;
    let skipped = bytesWritten;
    left = left.flatMap((piece) => {
      const done = Math.min(skipped, piece.length);
      skipped -= done;
      return done === piece.length ? [] : [piece.subarray(done)];
    });
  }
}

/** The most that the system takes in one call. */
const MAX_PIECES = 1024;
