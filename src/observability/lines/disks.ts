import { defineLines } from '../line.js';

/** Room on disks, and what lies in their files. */
export const diskLines = defineLines({
  diskFull: {
    level: 'error',
    message: 'The disk of ClickHouse is full: no spans are stored until it has room',
    when: 'A write failed for want of room. Writes are answered 503; reads go on.',
    action:
      'Free space or grow the disk: delete spans or projects, move other files away. Writes are taken again by themselves',
  },
  diskHasRoom: {
    level: 'info',
    message: 'The disk of ClickHouse has room again: spans are stored',
    when: 'After `diskFull`, once twice `DISK_RESERVE_MB` are free.',
  },
  diskReserveFailed: {
    level: 'warn',
    message: 'Disk space could not be reserved: when the disk is full, reads may fail',
    when: 'At the start, the file of `DISK_RESERVE_MB` could not be written.',
    action: 'Free as much space on the disk of DATA_DIR and restart, or lower DISK_RESERVE_MB',
  },
  diskLow: {
    level: 'error',
    message: 'A disk has less room than MIN_FREE_DISK_MB keeps free: spans are refused',
    when: 'Spans are answered 503; reads and deletions go on.',
    action:
      'Free space on that disk, make it larger, or delete what is not needed: npm run admin -- storage says what takes room',
  },
  diskLowEnded: {
    level: 'info',
    message: 'A disk has enough room again: spans are taken',
    when: 'After `diskLow`, when a tenth more than `MIN_FREE_DISK_MB` is free.',
  },
  diskNotSeen: {
    level: 'warn',
    message: 'It cannot be seen how much of a disk is free; what was seen last counts',
    when: 'The system, or with `CLICKHOUSE_URL` that server, does not tell.',
    action: 'Act on the error: the disk, its permissions, the address of ClickHouse',
  },
  storageNotMeasured: {
    level: 'warn',
    message: 'What is stored could not be measured; it is tried again in ten minutes',
    when: 'A store did not answer. How long disks last is told less exactly.',
    action: 'Nothing, unless it repeats: then see /readyz',
  },
  erasureFinished: {
    level: 'info',
    message: 'Deleted and replaced texts erased from the files of ClickHouse and SQLite',
    when: 'Each half of `ERASE_WITHIN_HOURS`.',
  },
  erasureFailed: {
    level: 'warn',
    message: 'Deleted and replaced texts could not all be erased from the files; it will be tried again',
    when: 'A store did not answer, or there was no room to rewrite what holds them.',
    action: 'Act on the error: room on the disk, mostly',
  },
});
