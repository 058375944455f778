import { defineLines } from '../line.js';

/** Room on disks, and what lies in their files. */
export const diskLines = defineLines({
  diskFull: {
    level: 'error',
    message: 'The ClickHouse disk is full: writes are rejected until there is space',
    when: 'A write failed for lack of space. Writes get 503; reads continue.',
    action: 'Free space or grow the disk: delete spans or projects, move other files away. Writes resume automatically',
  },
  diskHasRoom: {
    level: 'info',
    message: 'The ClickHouse disk has space again: writes resume',
    when: 'After `diskFull`, once twice `DISK_RESERVE_MB` are free.',
  },
  diskReserveFailed: {
    level: 'warn',
    message: 'Could not reserve disk space: when the disk is full, reads may fail',
    when: 'At start, the `DISK_RESERVE_MB` file could not be written.',
    action: 'Free that much space on the disk of DATA_DIR and restart, or lower DISK_RESERVE_MB',
  },
  diskLow: {
    level: 'error',
    message: 'Insufficient disk space (MIN_FREE_DISK_MB): spans are rejected',
    when: 'Spans get 503; reads and deletions continue.',
    action: 'Free space on that disk, grow it, or delete data: npm run admin -- storage shows what uses space',
  },
  diskLowEnded: {
    level: 'info',
    message: 'A disk has enough space again: spans are accepted again',
    when: 'After `diskLow`, when a tenth more than `MIN_FREE_DISK_MB` is free.',
  },
  diskNotSeen: {
    level: 'warn',
    message: 'Cannot read free disk space; using the last known value',
    when: 'The system, or with `CLICKHOUSE_URL` that server, does not report it.',
    action: 'Fix the error: the disk, its permissions, the address of ClickHouse',
  },
  storageNotMeasured: {
    level: 'warn',
    message: 'Could not measure storage; retrying in ten minutes',
    when: 'A store did not respond. Estimates of how long disks last are less accurate.',
    action: 'Nothing; if it repeats, check /readyz',
  },
  erasureFinished: {
    level: 'info',
    message: 'Deleted and replaced texts erased from the files of ClickHouse and SQLite',
    when: 'Every half of `ERASE_WITHIN_HOURS`.',
  },
  erasureFailed: {
    level: 'warn',
    message: 'Could not erase all deleted and replaced texts from the files; retrying',
    when: 'A store did not respond, or there was no space to rewrite its files.',
    action: 'Fix the error, usually disk space',
  },
});
