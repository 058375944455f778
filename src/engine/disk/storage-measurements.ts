import { BackgroundLoop } from '../work/background-loop.js';
import type { Disk, StorageMeasurement, StoredBytes } from './disk.js';
import { DAY, growingDisks, type GrowingDisk } from './growth.js';

/** Measurements of the last day: by them it is known how fast disks fill, also after a restart. */
export interface MeasurementStore {
  /** Adds one, and forgets those from before a moment. */
  add(measurement: StorageMeasurement, forgetBefore: number): void;
  latest(): StorageMeasurement | undefined;
  earliestSince(at: number): StorageMeasurement | undefined;
}

export interface StorageMeasurementParts {
  readonly store: MeasurementStore;
  readonly stored: (signal?: AbortSignal) => Promise<StoredBytes>;
  readonly disks: () => readonly Disk[];
  readonly onFailure: (error: unknown) => void;
}

/** What is stored, and how long the disks last. */
export interface StorageState {
  readonly measured: StorageMeasurement;
  readonly disks: readonly GrowingDisk[];
}

const INTERVAL_MS = 10 * 60_000;
/** The first one: the start has other things to do. */
const FIRST_MS = 5_000;

/** Measures what is stored now and then, and says by it how long the disks last. */
export class StorageMeasurements {
  readonly #parts: StorageMeasurementParts;
  readonly #loop: BackgroundLoop;

  constructor(parts: StorageMeasurementParts) {
    this.#parts = parts;
    this.#loop = new BackgroundLoop({
      round: () => this.#note(),
      onFailure: parts.onFailure,
    });
  }

  start(): void {
    this.#loop.wakeIn(FIRST_MS);
  }

  /** As it is now. @throws DomainError `unavailable` */
  async read(signal?: AbortSignal): Promise<StorageState> {
    const measured = await this.#measure(signal);
    return { measured, disks: growingDisks(measured, this.#parts.store.earliestSince(measured.at - DAY)) };
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  async #note(): Promise<number> {
    const measurement = await this.#measure(this.#loop.signal);
    this.#parts.store.add(measurement, measurement.at - DAY);
    return INTERVAL_MS;
  }

  async #measure(signal?: AbortSignal): Promise<StorageMeasurement> {
    const stored = await this.#parts.stored(signal);
    return { at: Date.now() * 1000, stored, disks: this.#parts.disks() };
  }
}

/** As it was when it was measured last, with or without a server that runs; undefined: it never was. */
export function lastStorageState(store: MeasurementStore): StorageState | undefined {
  const measured = store.latest();
  if (measured === undefined) return undefined;
  return { measured, disks: growingDisks(measured, store.earliestSince(measured.at - DAY)) };
}
