import type { Disk, DiskRoom, StoredKind } from '../domain/disk/disk.js';
import { DomainError } from '../domain/errors.js';
import { BackgroundLoop } from '../domain/job/background-loop.js';
import type { DiskWatermarkObserver } from '../observability/events/disks.js';

/** A disk whose room is looked at. */
export interface WatchedDisk extends Pick<Disk, 'name' | 'holds'> {
  /** Null: it has no bounds that are known. */
  readonly room: (signal: AbortSignal) => Promise<DiskRoom | null>;
}

export interface DiskWatermarkOptions {
  readonly disks: readonly WatchedDisk[];
  /** Bytes that stay free on each disk; null: as many as suit its size; 0: none. */
  readonly minFreeBytes: number | null;
  readonly observer: DiskWatermarkObserver;
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
 * some room, go on. When there is room again, so does ingest. (What happens where others fill the disk nevertheless is the
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

  private constructor(options: DiskWatermarkOptions) {
    this.#options = options;
    this.#loop = new BackgroundLoop({
      round: () => this.#look(),
      onFailure: () => undefined,
      retryMs: LOOK_EVERY_MS,
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

  /** @param bytes of spans that are to be written, none of them yet. @throws DomainError `unavailable` when a disk has no room for them */
  demand(bytes: number): void {
    for (const disk of this.#seen.values()) {
      const coming = disk.holds.includes('spans') ? this.#written + bytes : 0;
      if (this.#low.has(disk.name) || disk.free - coming < disk.minFree)
        throw new DomainError(
          'unavailable',
          `${shortage(disk)}. Free some, or delete what is not needed, and send again`,
          {
            retryAfterSeconds: RETRY_AFTER_SECONDS,
            reason: 'disk_low',
          },
        );
    }
  }

  /** Spans were written: so much less is free than at the last look. */
  written(bytes: number): void {
    this.#written += bytes;
  }

  /** @throws Error that says which disk has too little room */
  check(): void {
    for (const disk of this.#seen.values()) if (this.#low.has(disk.name)) throw new Error(shortage(disk));
  }

  async close(): Promise<void> {
    await this.#loop.close();
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
    const { name, free, total, minFree } = disk;
    const wasLow = this.#low.has(name);
    if (!wasLow && free < minFree) {
      this.#low.add(name);
      this.#options.observer.diskLow(disk);
    } else if (wasLow && free >= Math.min(minFree * ROOM_TO_RESUME, (minFree + total) / 2)) {
      this.#low.delete(name);
      this.#options.observer.diskLowEnded(disk);
    }
  }
}

/** 5 % of a disk and at least 1 GB; of a small disk a quarter, or nothing could ever be stored there. */
function suitable(total: number): number {
  return Math.floor(Math.min(Math.max(total / 20, GIGABYTE), total / 4));
}

function shortage({ name, free, minFree }: Disk): string {
  return `Spans and imports are refused, as the disk of ${WHERE[name] ?? name} has ${megabytes(free)} MB left and MIN_FREE_DISK_MB keeps ${megabytes(minFree)} MB free`;
}

const WHERE: Readonly<Record<string, string>> = {
  data: 'DATA_DIR',
  clickhouse: 'ClickHouse',
  attachments: 'images',
};

function megabytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}

/** Kinds that lie in ClickHouse. */
export const IN_CLICKHOUSE: readonly StoredKind[] = ['spans', 'rollups', 'words'];
