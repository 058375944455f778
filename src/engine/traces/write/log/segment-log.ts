import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../files/sync-folder.js';
import { encodeRecord, newMark, type FoundRecord, type LogRecord } from './record.js';
import { recoverSegments, segmentNames, type RecoveredRecord } from './recovery.js';
import { encodeHeader, readRecord, type LoggedColumns } from './segment.js';
import { closeReader, writeAll, type Place, type Segment } from './segment-file.js';

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

const SEGMENT_BYTES = 32 * 1024 * 1024;
const IDLE_MS = 1_000;
/** How long after a failed write another segment is begun, at the earliest. */
const RETRY_MS = 1_000;
/** A segment that is older takes no more: what is in it cannot be purged. */
const MAX_AGE_MS = 10_000;

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
  /** Removals of segments in progress, and what ends in them: the closing of segments. */
  readonly #removing = new Set<Promise<void>>();
  #writing = false;
  /** Called when the append in progress has ended: the segment is to be sealed. */
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
    const names = await segmentNames(directory);
    const log = new SegmentLog(options, Number(names.at(-1)?.slice(0, 12) ?? 0));
    const { segments, recovered } = await recoverSegments(options, names);
    log.#segments.push(...segments);
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

  /** Call once for each record that is stored elsewhere for good. */
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
