import type { Disk, StorageMeasurement } from './disk.js';

/** A disk, with how it fills. */
export interface GrowingDisk extends Disk {
  /** By how much what is stored there grows in a day; negative: it shrinks; null: not known yet. */
  readonly growsPerDay: number | null;
  /** Whole days until nothing more is taken in, at that pace; null: not known, or never. */
  readonly daysLeft: number | null;
}

const HOUR = 3_600_000_000;
export const DAY = 24 * HOUR;

/** The disks of a measurement, with what they grew by since an earlier one. */
export function growingDisks(now: StorageMeasurement, earlier: StorageMeasurement | undefined): GrowingDisk[] {
  return now.disks.map((disk) => {
    const growsPerDay = pace(disk, now, earlier);
    const room = Math.max(0, disk.free - disk.minFree);
    const daysLeft = growsPerDay === null || growsPerDay <= 0 ? null : Math.floor(room / growsPerDay);
    return { ...disk, growsPerDay, daysLeft };
  });
}

/** Less than an hour says nothing of a day. */
function pace({ holds }: Disk, now: StorageMeasurement, earlier: StorageMeasurement | undefined): number | null {
  if (earlier === undefined || now.at - earlier.at < HOUR) return null;
  const size = ({ stored }: StorageMeasurement) => holds.reduce((sum, kind) => sum + stored[kind], 0);
  return Math.round(((size(now) - size(earlier)) * DAY) / (now.at - earlier.at));
}
