import { defineLines } from '../line.js';

/** Room on disks, and what lies in their files. */
export const diskLines = defineLines({
  diskFull: {
    level: 'error',
    message: 'The disk of ClickHouse is full: no spans are stored until it has room',
    when: 'A write failed because the disk is full. Writes get 503; reads continue.',
    action:
      'Free space or enlarge the disk: delete spans or projects, or move other files away. The server then accepts ' +
      'writes again automatically',
  },
  diskHasRoom: {
    level: 'info',
    message: 'The disk of ClickHouse has room again: spans are stored',
    when: 'After `diskFull`, once twice `DISK_RESERVE_MB` are free.',
  },
  diskReserveFailed: {
    level: 'warn',
    message: 'Disk space could not be reserved: when the disk is full, reads may fail',
    when: 'At startup, the file of `DISK_RESERVE_MB` could not be written.',
    action: 'Free that much space on the disk of DATA_DIR and restart, or lower DISK_RESERVE_MB',
  },
  diskLow: {
    level: 'error',
    message: 'A disk has less room than MIN_FREE_DISK_MB keeps free: spans are refused',
    when: 'Spans get 503; reads and deletions continue.',
    action:
      'Free space on that disk, enlarge it, or delete unneeded data: npm run admin -- storage shows what uses space',
  },
  diskLowEnded: {
    level: 'info',
    message: 'A disk has enough room again: spans are taken',
    when: 'After `diskLow`, when a tenth more than `MIN_FREE_DISK_MB` is free.',
  },
  diskNotSeen: {
    level: 'warn',
    message: 'It cannot be seen how much of a disk is free; what was seen last counts',
    when: 'The system, or with `CLICKHOUSE_URL` that server, does not report it.',
    action: 'Act on the error: the disk, its permissions, the address of ClickHouse',
  },
  storageNotMeasured: {
    level: 'warn',
    message: 'What is stored could not be measured; it is tried again in ten minutes',
    when: 'A store did not respond. The estimate of how long disks last is less exact.',
    action: 'Nothing, unless it repeats: then check /readyz',
  },
  erasureFinished: {
    level: 'info',
    message: 'Deleted and replaced texts erased from the files of ClickHouse and SQLite',
    when: 'Each half of `ERASE_WITHIN_HOURS`.',
  },
  erasureFailed: {
    level: 'warn',
    message: 'Deleted and replaced texts could not all be erased from the files; it will be tried again',
    when: 'A store did not respond, or there was not enough space to rewrite the files.',
    action: 'Act on the error, which is usually about disk space',
  },
});
