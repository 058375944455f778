import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { open, rm, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DomainError } from '../../errors.js';
import type { DiskSpace } from './disk-space.js';
import type { Signals } from '../../signals/signals.js';

export interface DiskReserveOptions {
  /** File that holds the reserve, on the disk that the store writes to. */
  readonly path: string;
  readonly bytes: number;
  readonly observer: Pick<Signals, 'diskFull' | 'diskHasRoom' | 'diskReserveFailed'>;
}

const LOOK_EVERY_MS = 1_000;
const RETRY_AFTER_SECONDS = 5;
/** The content of the reserve, written again and again; random, so that no file system compresses it. */
const PIECE = randomBytes(1024 * 1024);

/**
 * A file that only takes room. What was acknowledged has to be readable whatever happens, and rolling it up takes a few
 * writes: when the disk is full, the file is removed and they have room. From then on nothing more is stored, until there
 * is room for the file again and for as much besides.
 */
export class DiskReserve implements Pick<DiskSpace, 'requireSpace' | 'onFull'> {
  readonly #options: DiskReserveOptions;
  readonly #listeners: (() => void)[] = [];
  #full = false;
  #closed = false;
  #looking: NodeJS.Timeout | undefined;
  #taking: Promise<void> | undefined;

  private constructor(options: DiskReserveOptions) {
    this.#options = options;
  }

  /** Takes the reserve, in the background; the folder has to exist. */
  static open(options: DiskReserveOptions): DiskReserve {
    const reserve = new DiskReserve(options);
    reserve.#taking = reserve.#takeFirst();
    return reserve;
  }

  requireSpace(): void {
    if (this.#full)
      throw new DomainError('unavailable', 'The disk is full: writes are rejected until there is space', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        reason: 'disk_full',
      });
  }

  onFull(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Makes room: a write met a full disk. */
  giveWay(): void {
    if (this.#full || this.#closed) return;
    this.#full = true;
    rmSync(this.#options.path, { force: true });
    this.#options.observer.diskFull();
    this.#look();
    for (const listener of this.#listeners) listener();
  }

  /** Ends looking at the disk; the file stays, for the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#looking);
    await this.#taking;
  }

  async #takeFirst(): Promise<void> {
    const { path, observer } = this.#options;
    try {
      await this.#take();
      // The disk was found full meanwhile.
      if (this.#full) await rm(path, { force: true });
    } catch (error) {
      observer.diskReserveFailed({ error });
    }
  }

  #look(): void {
    if (this.#closed) return;
    this.#looking = setTimeout(() => {
      this.#taking = this.#recover().catch(() => undefined);
      void this.#taking.then(() => {
        if (this.#full) this.#look();
      });
    }, LOOK_EVERY_MS);
    this.#looking.unref();
  }

  async #recover(): Promise<void> {
    const { path, bytes, observer } = this.#options;
    const { bavail, bsize } = await statfs(dirname(path));
    if (bavail * bsize < 2 * bytes) return;
    await this.#take();
    this.#full = false;
    observer.diskHasRoom();
  }

  async #take(): Promise<void> {
    const { path, bytes } = this.#options;
    const there = await stat(path).catch(() => null);
    if (there?.size === bytes) return;
    const file = await open(path, 'w', 0o600);
    try {
      for (let at = 0; at < bytes; at += PIECE.length) await file.write(PIECE, 0, Math.min(PIECE.length, bytes - at));
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  }
}
