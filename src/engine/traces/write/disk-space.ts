import { isDiskFull } from '../clickhouse/client/client-errors.js';

/** The room on the disk that spans are stored on. */
export interface DiskSpace {
  /** @throws DomainError `unavailable` while the disk is full: nothing is stored then, tombstones of deletions neither. */
  requireSpace(): void;
  /** @throws DomainError `unavailable` when less would stay free than is to: nothing more is taken in then */
  requireFree(): void;
  /** So many bytes are taken in and not written yet. */
  queued(bytes: number): void;
  /** So much was written. */
  written(bytes: number): void;
  /** Calls back each time the disk is found full, when room has been made for what must still be written. */
  onFull(listener: () => void): void;
}

/** Of a disk that nothing is known of. */
export const UNBOUNDED: DiskSpace = {
  requireSpace: () => undefined,
  requireFree: () => undefined,
  queued: () => undefined,
  written: () => undefined,
  onFull: () => undefined,
};

/** Repeats work that found the disk full: finding it so makes room for what must be written anyway. */
export async function withRoom<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDiskFull(error)) return work();
    throw error;
  }
}
