import { say } from '../lines.js';
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
      say(logger, 'diskFull');
    },
    diskHasRoom() {
      say(logger, 'diskHasRoom');
    },
    diskReserveFailed({ error }) {
      say(logger, 'diskReserveFailed', { error });
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
      say(logger, 'diskLow', fieldsOf(disk));
    },
    diskLowEnded(disk) {
      say(logger, 'diskLowEnded', fieldsOf(disk));
    },
    diskNotSeen({ name, error }) {
      say(logger, 'diskNotSeen', { disk: name, error });
    },
    storageNotMeasured({ error }) {
      say(logger, 'storageNotMeasured', { error });
    },
  };
}

function erasureEvents(logger: Logger, metrics: Metrics): ErasureObserver {
  return {
    erasureFinished({ partitions, seconds }) {
      metrics.erasedAt.setToCurrentTime();
      say(logger, 'erasureFinished', { partitions, ms: milliseconds(seconds) });
    },
    erasureFailed({ error }) {
      say(logger, 'erasureFailed', { error });
    },
  };
}
