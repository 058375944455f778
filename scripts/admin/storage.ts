import type { Disk } from '../../src/engine/disk/disk.js';
import type { GrowingDisk } from '../../src/engine/disk/growth.js';
import { lastStorageState, type MeasurementStore } from '../../src/engine/disk/storage-measurements.js';
import { DomainError } from '../../src/engine/errors.js';
import { diskRead } from '../../src/features/projects/project-storage.js';
import { bytes } from '../../src/console/model/format.js';

const NAMES: Readonly<Record<string, string>> = { sqlite: 'SQLite', words: 'search words' };

/**
 * What takes how much room, and how long the disks last, as the server measured it last.
 * @param forPrograms whether sizes are bytes, as the API has them
 * @throws DomainError `not_found` before the first measurement
 */
export function storageReport(store: MeasurementStore, forPrograms: boolean): Readonly<Record<string, unknown>> {
  const state = lastStorageState(store);
  if (state === undefined)
    throw new DomainError(
      'not_found',
      'Nothing is measured yet: a running server does this some seconds after startup',
    );
  const { measured, disks } = state;
  const at = new Date(measured.at / 1000).toISOString();
  if (forPrograms) return { measured_at: at, stored_bytes: measured.stored, disks: disks.map(diskRead) };
  const sizes = Object.entries(measured.stored).map(([kind, size]) => [NAMES[kind] ?? kind, bytes(size)]);
  const rooms = disks.map((disk) => [`disk ${disk.name}`, `${room(disk)}; ${outlook(disk)}`]);
  return Object.fromEntries([['measured at', at], ...sizes, ...rooms]) as Record<string, string>;
}

function room({ free, total, minFree, holds }: Disk): string {
  return `${bytes(free)} free of ${bytes(total)}, of which ${bytes(minFree)} stay free; holds ${holds.join(', ')}`;
}

function outlook({ growsPerDay, daysLeft }: GrowingDisk): string {
  if (growsPerDay === null) return 'growth is unknown until the server has run for an hour';
  if (daysLeft === null) return 'what is stored does not grow';
  return `grows by ${bytes(growsPerDay)} a day: spans are refused in ${daysLeft} days`;
}
