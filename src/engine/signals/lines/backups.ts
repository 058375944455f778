import { defineLines } from '../line.js';

/** Backups of this server. */
export const backupLines = defineLines({
  snapshotTaken: {
    level: 'info',
    message: 'Snapshot taken for a backup',
    when: 'A backup starts; `commits_held_ms` says how long writes waited for its snapshot.',
  },
  snapshotNotEnded: {
    level: 'warn',
    message: 'Could not remove hard links of a snapshot',
    when: 'A backup finished, but what it held in `DATA_DIR` could not be removed.',
    action: 'Fix the error if it is about permissions; the next backup or start removes the links',
  },
  backupMade: {
    level: 'info',
    message: 'Backup complete',
    when: 'A backup is complete; `new_bytes` counts what no earlier backup there had.',
  },
  backupDatedAhead: {
    level: 'warn',
    message: 'A backup is dated in the future',
    when: 'A backup may be due, and `BACKUP_TO` has backups dated in the future: the clock is or was wrong. They are kept but ignored by the schedule and `BACKUP_KEEP`; `backups` names the first of them.',
    action:
      'Correct the clock if it is wrong. Otherwise remove their files, backups/<name>.json in BACKUP_TO; pruning after the next backup removes what only they hold',
  },
  backupsNotPruned: {
    level: 'warn',
    message: 'Could not remove older backups',
    when: 'A backup completed, but backups beyond `BACKUP_KEEP` or `--keep` remain; `reason` says why.',
    action:
      'Fix the reason, or the backup location fills up. The next backup prunes again, or run npm run admin -- prune-backups',
  },
  backupFailed: {
    level: 'error',
    message: 'Backup failed',
    when: 'A backup failed; `reason` says why. Existing backups are intact.',
    action:
      'Fix the reason: space and permissions of BACKUP_TO; for a bucket, its keys and whether it responds. Then run npm run admin -- backup',
  },
  backupRetried: {
    level: 'warn',
    message: 'Scheduled backup failed; retrying',
    when: 'After each failure of a backup scheduled by `BACKUP_EVERY`; the pauses grow to half an hour.',
    action: 'Fix the reason in the line before this one; if there is none, the process was killed: check memory',
  },
});
