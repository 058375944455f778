import { say } from '../../engine/signals/lines.js';
import type { Logger } from '../../engine/signals/logger.js';
import type { Metrics } from '../../engine/signals/metrics.js';
import { milliseconds } from './milliseconds.js';
import type { DiskObserver } from '../../engine/traces/observers.js';
import type { DiskWatermarkObserver, SeenDisk } from '../../engine/disk/disk-watermark.js';

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
