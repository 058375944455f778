import { defineLines } from '../line.js';

/** Backups of this server. */
export const backupLines = defineLines({
  snapshotTaken: {
    level: 'info',
    message: 'Snapshot taken for a backup',
    when: 'A backup starts; `commits_held_ms` is how long writes waited for the snapshot.',
  },
  snapshotNotEnded: {
    level: 'warn',
    message: 'Hard links of a snapshot could not be removed',
    when: 'A backup has ended, but its files in `DATA_DIR` could not be removed.',
    action: 'If the error is about permissions, correct them; the next backup, or the next start, removes the files',
  },
  backupMade: {
    level: 'info',
    message: 'Backup made',
    when: 'A backup is complete; `new_bytes` are those that no earlier backup there had.',
  },
  backupDatedAhead: {
    level: 'warn',
    message: 'A backup is dated ahead of the clock',
    when:
      'Whenever a backup may be due and `BACKUP_TO` has backups dated in the future: the clock is or was wrong. ' +
      'They count neither for the schedule nor for `BACKUP_KEEP`, and stay; `backups` names the first of them.',
    action:
      'Set the clock if it is wrong. Otherwise, remove their files, backups/<name>.json in BACKUP_TO; the next ' +
      'pruning removes what only they contain',
  },
  backupsNotPruned: {
    level: 'warn',
    message: 'Older backups were not removed',
    when: 'A backup completed, but older backups (`BACKUP_KEEP`, or `--keep`) are still there; `reason` says why.',
    action:
      'Act on the reason, or the backup destination fills up: the next backup prunes again, or npm run admin -- ' +
      'prune-backups',
  },
  backupFailed: {
    level: 'error',
    message: 'Backup failed',
    when: 'A backup failed; `reason` says why. Existing backups are complete.',
    action:
      'Act on the reason: space and permissions of BACKUP_TO; for a bucket, its keys and whether it responds. Then ' +
      'create a backup: npm run admin -- backup',
  },
  backupRetried: {
    level: 'warn',
    message: 'A scheduled backup was not made; it will be tried again',
    when: 'After each failure of a scheduled backup (`BACKUP_EVERY`); the pauses grow to half an hour.',
    action: 'Act on the reason in the line before this one; if there is none, the process was killed: check memory',
  },
});
