import { defineLines } from '../line.js';

/** Backups of this server. */
export const backupLines = defineLines({
  snapshotTaken: {
    level: 'info',
    message: 'Snapshot taken for a backup',
    when: 'A backup begins; `commits_held_ms` says how long writes waited for its moment.',
  },
  snapshotNotEnded: {
    level: 'warn',
    message: 'Hard links of a snapshot could not be removed',
    when: 'A backup has ended, and what was held for it in `DATA_DIR` could not be removed.',
    action: 'Act on the error if it is one of permissions; the next backup, or the next start, removes them',
  },
  backupMade: {
    level: 'info',
    message: 'Backup made',
    when: 'A backup is complete; `new_bytes` are those that no earlier one there had.',
  },
  backupDatedAhead: {
    level: 'warn',
    message: 'A backup is dated ahead of the clock',
    when: 'Whenever a backup may be due and `BACKUP_TO` has backups of a time to come: the clock is wrong, or was. They count neither for the schedule nor for `BACKUP_KEEP`, and stay; `backups` names the first of them.',
    action:
      'Set the clock if it is wrong. Else remove their files, backups/<name>.json in BACKUP_TO; what they alone hold goes when the next backup is pruned',
  },
  backupsNotPruned: {
    level: 'warn',
    message: 'Older backups were not removed',
    when: 'A backup was made, and what should have gone for it (`BACKUP_KEEP`, or `--keep`) is still there; `reason` says why.',
    action:
      'Act on the reason, else the place of the backups fills up: the next backup prunes again, or npm run admin -- prune-backups',
  },
  backupFailed: {
    level: 'error',
    message: 'Backup failed',
    when: 'A backup was not made; `reason` says why. Backups that are there are whole.',
    action:
      'Act on the reason: room and permissions of BACKUP_TO, of a bucket its keys and whether it answers. Then make one: npm run admin -- backup',
  },
  backupRetried: {
    level: 'warn',
    message: 'A scheduled backup was not made; it will be tried again',
    when: 'After each failure of a backup that `BACKUP_EVERY` asks for; the pauses grow to half an hour.',
    action: 'Act on the reason of the line before this one; where there is none, the process was killed: see memory',
  },
});
