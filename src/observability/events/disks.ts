import type { Logger } from '../logger.js';
import type { Metrics } from '../metrics.js';
import { milliseconds } from './milliseconds.js';

export interface DiskObserver {
  /** Nothing more is stored; what is stored can be read. */
  diskFull(): void;
  diskHasRoom(): void;
  /** Room cannot be kept for what must be written when the disk is full. */
  diskReserveFailed(failure: { readonly error: unknown }): void;
}

/** A disk, and the bytes of it that are free and that are to stay so. */
interface SeenDisk {
  readonly name: string;
  readonly free: number;
  readonly total: number;
  readonly minFree: number;
}

export interface DiskWatermarkObserver {
  diskSeen(disk: SeenDisk): void;
  /** Less is free than is to stay so: nothing more is taken in. */
  diskLow(disk: SeenDisk): void;
  diskLowEnded(disk: SeenDisk): void;
  /** How much is free cannot be seen; what was seen last counts. */
  diskNotSeen(failure: { readonly name: string; readonly error: unknown }): void;
  /** What is stored could not be measured: how fast disks fill is not known. */
  storageNotMeasured(failure: { readonly error: unknown }): void;
}

export interface ErasureObserver {
  /** What was deleted or replaced before it began is in no file any more, in some minutes. */
  erasureFinished(erasure: { readonly partitions: number; readonly seconds: number }): void;
  erasureFailed(failure: { readonly error: unknown }): void;
}

/** Events of disks, and of what lies in their files. */
export interface DiskEvents extends DiskObserver, DiskWatermarkObserver, ErasureObserver {}

export function diskEvents(logger: Logger, metrics: Metrics): DiskEvents {
  return { ...fullDiskEvents(logger), ...watermarkEvents(logger, metrics), ...erasureEvents(logger, metrics) };
}

function fullDiskEvents(logger: Logger): DiskObserver {
  return {
    diskFull() {
      logger.error('The disk of ClickHouse is full: no spans are stored until it has room');
    },
    diskHasRoom() {
      logger.info('The disk of ClickHouse has room again: spans are stored');
    },
    diskReserveFailed({ error }) {
      logger.warn('Disk space could not be reserved: when the disk is full, reads may fail', { error });
    },
  };
}

function watermarkEvents(logger: Logger, metrics: Metrics): DiskWatermarkObserver {
  const fieldsOf = ({ name, free, minFree }: SeenDisk) => ({ disk: name, free_bytes: free, min_free_bytes: minFree });
  return {
    diskSeen({ name: disk, free, total, minFree }) {
      metrics.diskFreeBytes.set({ disk }, free);
      metrics.diskTotalBytes.set({ disk }, total);
      metrics.diskMinFreeBytes.set({ disk }, minFree);
    },
    diskLow(disk) {
      logger.error(
        'A disk has less room than MIN_FREE_DISK_MB keeps free: spans are refused. Free some, make it larger, or delete what is not needed',
        fieldsOf(disk),
      );
    },
    diskLowEnded(disk) {
      logger.info('A disk has enough room again: spans are taken', fieldsOf(disk));
    },
    diskNotSeen({ name, error }) {
      logger.warn('It cannot be seen how much of a disk is free; what was seen last counts', { disk: name, error });
    },
    storageNotMeasured({ error }) {
      logger.warn('What is stored could not be measured; it is tried again in ten minutes', { error });
    },
  };
}

function erasureEvents(logger: Logger, metrics: Metrics): ErasureObserver {
  return {
    erasureFinished({ partitions, seconds }) {
      metrics.erasedAt.setToCurrentTime();
      logger.info('Deleted and replaced texts erased from the files of ClickHouse and SQLite', {
        partitions,
        ms: milliseconds(seconds),
      });
    },
    erasureFailed({ error }) {
      logger.warn('Deleted and replaced texts could not all be erased from the files; it will be tried again', {
        error,
      });
    },
  };
}
