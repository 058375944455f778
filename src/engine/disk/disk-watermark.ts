import type { Disk, DiskRoom, StoredKind } from './disk.js';
import { DomainError } from '../errors.js';
import { RETRIES } from '../work/backoff.js';
import { BackgroundLoop } from '../work/background-loop.js';
import type { Signals } from '../signals/signals.js';

/** A disk whose room is looked at. */
export interface WatchedDisk extends Pick<Disk, 'name' | 'holds'> {
  /** Null: it has no bounds that are known. */
  readonly room: (signal: AbortSignal) => Promise<DiskRoom | null>;
}

export interface DiskWatermarkOptions {
  readonly disks: readonly WatchedDisk[];
  /** Bytes that stay free on each disk; null: as many as suit its size; 0: none. */
  readonly minFreeBytes: number | null;
  readonly observer: Pick<Signals, 'diskSeen' | 'diskLow' | 'diskLowEnded' | 'diskNotSeen'>;
  readonly lookEveryMs?: number;
}

/** Often enough: what is written between two looks is counted. */
const LOOK_EVERY_MS = 1_000;
const RETRY_AFTER_SECONDS = 10;
const GIGABYTE = 2 ** 30;
/** Merges take room and give it back: without a distance, writes would be refused and taken by turns. */
const ROOM_TO_RESUME = 1.1;

/**
 * Keeps a part of each disk free: with less, nothing more is taken in, while reads, deletions and merges, which all need
 * some room, continue. When there is room again, so does ingest. (What happens where others fill the disk nevertheless is the
 * business of `DiskReserve`.)
 */
export class DiskWatermark {
  readonly #options: DiskWatermarkOptions;
  readonly #seen = new Map<string, Disk>();
  /** Names of the disks that are below their mark. */
  readonly #low = new Set<string>();
  /** Names of the disks that could not be looked at. */
  readonly #unseen = new Set<string>();
  readonly #loop: BackgroundLoop;
  /** Bytes of spans written since the last look. */
  #written = 0;
  /** Bytes of spans taken in and not written yet. */
  #queued = 0;

  private constructor(options: DiskWatermarkOptions) {
    this.#options = options;
    this.#loop = new BackgroundLoop({
      round: () => this.#look(),
      onFailure: () => undefined,
      retry: RETRIES.soon,
    });
  }

  /** Resolves after the first look. */
  static async open(options: DiskWatermarkOptions): Promise<DiskWatermark> {
    const watermark = new DiskWatermark(options);
    watermark.#loop.wakeIn(await watermark.#look());
    return watermark;
  }

  /** The disks that could be looked at. */
  get disks(): readonly Disk[] {
    return [...this.#seen.values()];
  }

  /** @throws DomainError `unavailable` when a disk has too little room for more spans or imports */
  requireSpace(): void {
    const shortage = this.#shortage();
    if (shortage === null) return;
    const message = `${shortage}. Free some space, then retry`;
    throw new DomainError('unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, reason: 'disk_low' });
  }

  /** So many bytes of spans are taken in and not written yet. */
  queued(bytes: number): void {
    this.#queued = bytes;
  }

  /** Spans were written: so much less is free than at the last look. */
  written(bytes: number): void {
    this.#written += bytes;
  }

  /** @throws Error when {@link requireSpace} refuses, which says the same */
  check(): void {
    const shortage = this.#shortage();
    if (shortage !== null) throw new Error(shortage);
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  /** The disk that has too little room, in words; null: none has. */
  #shortage(): string | null {
    for (const disk of this.#seen.values()) {
      const { name, free, minFree, holds } = disk;
      const room = free - (holds.includes('spans') ? this.#written + this.#queued : 0);
      const isLow = this.#low.has(name);
      // Below nothing, too, where nothing is to stay free: what is acknowledged must have its place.
      if (!isLow && room >= minFree) continue;
      const left = Math.max(0, room);
      const again = isLow ? `; writes resume at ${megabytes(resumesAt(disk), Math.ceil)} MB` : '';
      return (
        `Insufficient disk space: the disk of ${WHERE[name] ?? name} has ${megabytes(left, Math.floor)} MB left ` +
        `and MIN_FREE_DISK_MB keeps ${megabytes(minFree, Math.ceil)} MB free${again}`
      );
    }
    return null;
  }

  async #look(): Promise<number> {
    const { disks, lookEveryMs = LOOK_EVERY_MS } = this.#options;
    const before = this.#written;
    await Promise.all(disks.map((disk) => this.#lookAt(disk)));
    this.#written -= before;
    return lookEveryMs;
  }

  async #lookAt({ name, holds, room }: WatchedDisk): Promise<void> {
    const { minFreeBytes, observer } = this.#options;
    try {
      const found = await room(this.#loop.signal);
      this.#unseen.delete(name);
      if (found === null) return void this.#seen.delete(name);
      const disk = { name, holds, ...found, minFree: minFreeBytes ?? suitable(found.total) };
      this.#seen.set(name, disk);
      observer.diskSeen(disk);
      this.#mark(disk);
    } catch (error) {
      if (this.#loop.signal.aborted || this.#unseen.has(name)) return;
      this.#unseen.add(name);
      observer.diskNotSeen({ name, error });
    }
  }

  #mark(disk: Disk): void {
    const { name, free, minFree } = disk;
    const wasLow = this.#low.has(name);
    if (!wasLow && free < minFree) {
      this.#low.add(name);
      this.#options.observer.diskLow(disk);
    } else if (wasLow && free >= resumesAt(disk)) {
      this.#low.delete(name);
      this.#options.observer.diskLowEnded(disk);
    }
  }
}

/** 5 % of a disk and at least 1 GB; of a small disk a quarter, or nothing could ever be stored there. */
function suitable(total: number): number {
  return Math.floor(Math.min(Math.max(total / 20, GIGABYTE), total / 4));
}

/** Bytes that are free when a disk that had too little room has enough again. */
function resumesAt({ total, minFree }: Disk): number {
  return Math.min(minFree * ROOM_TO_RESUME, (minFree + total) / 2);
}

const WHERE: Readonly<Record<string, string>> = {
  data: 'DATA_DIR',
  clickhouse: 'ClickHouse',
  attachments: 'images',
};

/** @param round so that what is refused never seems to have room */
function megabytes(bytes: number, round: (value: number) => number): number {
  return round(bytes / 2 ** 20);
}

/** Kinds that lie in ClickHouse. */
export const IN_CLICKHOUSE: readonly StoredKind[] = ['spans', 'rollups', 'words'];
