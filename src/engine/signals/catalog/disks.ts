import { catalogOf, measured, milliseconds, signal } from '../signal.js';

/** A disk, and the bytes of it that are free and that are to stay so. */
export interface SeenDisk {
  readonly name: string;
  readonly free: number;
  readonly total: number;
  readonly minFree: number;
}

const bytesOf = ({ name, free, minFree }: SeenDisk) => ({ disk: name, free_bytes: free, min_free_bytes: minFree });

/** Room on disks, and what lies in their files. */
export const diskCatalog = catalogOf({
  diskFull: signal({
    level: 'error',
    message: 'The ClickHouse disk is full: writes are rejected until there is space',
    when: 'A write failed for lack of space. Writes get 503; reads continue.',
    action: 'Free space or grow the disk: delete spans or projects, move other files away. Writes resume automatically',
  }),
  diskHasRoom: signal({
    level: 'info',
    message: 'The ClickHouse disk has space again: writes resume',
    when: 'After `diskFull`, once twice `DISK_RESERVE_MB` are free.',
  }),
  diskReserveFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not reserve disk space: when the disk is full, reads may fail',
    when: 'At start, the `DISK_RESERVE_MB` file could not be written.',
    action: 'Free that much space on the disk of DATA_DIR and restart, or lower DISK_RESERVE_MB',
    log: ({ error }) => ({ error }),
  }),
  diskLow: signal<SeenDisk>({
    level: 'error',
    message: 'Insufficient disk space (MIN_FREE_DISK_MB): spans are rejected',
    when: 'Spans get 503; reads and deletions continue.',
    action: 'Free space on that disk, grow it, or delete data: npm run admin -- storage shows what uses space',
    log: bytesOf,
  }),
  diskLowEnded: signal<SeenDisk>({
    level: 'info',
    message: 'A disk has enough space again: spans are accepted again',
    when: 'After `diskLow`, when a tenth more than `MIN_FREE_DISK_MB` is free.',
    log: bytesOf,
  }),
  diskNotSeen: signal<{ name: string; error: unknown }>({
    level: 'warn',
    message: 'Cannot read free disk space; using the last known value',
    when: 'The system, or with `CLICKHOUSE_URL` that server, does not report it.',
    action: 'Fix the error: the disk, its permissions, the address of ClickHouse',
    log: ({ name, error }) => ({ disk: name, error }),
  }),
  storageNotMeasured: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not measure storage; retrying in ten minutes',
    when: 'A store did not respond. Estimates of how long disks last are less accurate.',
    action: 'Nothing; if it repeats, check /readyz',
    log: ({ error }) => ({ error }),
  }),
  erasureFinished: signal<{ partitions: number; seconds: number }>({
    level: 'info',
    message: 'Deleted and replaced texts erased from the files of ClickHouse and SQLite',
    when: 'Every half of `ERASE_WITHIN_HOURS`.',
    log: ({ partitions, seconds }) => ({ partitions, ms: milliseconds(seconds) }),
    count: ({ erasedAt }) => erasedAt.setToCurrentTime(),
  }),
  erasureFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not erase all deleted and replaced texts from the files; retrying',
    when: 'A store did not respond, or there was no space to rewrite its files.',
    action: 'Fix the error, usually disk space',
    log: ({ error }) => ({ error }),
  }),
  diskSeen: measured<SeenDisk>((metrics, { name: disk, free, total, minFree }) => {
    metrics.diskFreeBytes.set({ disk }, free);
    metrics.diskTotalBytes.set({ disk }, total);
    metrics.diskMinFreeBytes.set({ disk }, minFree);
  }),
});
