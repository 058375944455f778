import type { Metrics } from '../metrics.js';
import { catalogOf, measured, milliseconds, signal, type LineName, type LogEvent } from '../signal.js';

/** Backups that a line names. */
const NAMED = 5;

/** Backups of this server. */
export const backupCatalog = catalogOf({
  snapshotTaken: signal<{ heldMs: number; seconds: number }>({
    level: 'info',
    message: 'Snapshot taken for a backup',
    when: 'A backup starts; `commits_held_ms` says how long writes waited for its snapshot.',
    log: ({ heldMs, seconds }) => ({ commits_held_ms: Math.round(heldMs), ms: milliseconds(seconds) }),
    count: ({ backupCommitsHeld }, { heldMs }) => backupCommitsHeld.observe(heldMs / 1000),
  }),
  snapshotNotEnded: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not remove hard links of a snapshot',
    when: 'A backup finished, but what it held in `DATA_DIR` could not be removed.',
    action: 'Fix the error if it is about permissions; the next backup or start removes the links',
    log: ({ error }) => ({ error }),
  }),
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
  backupsNotPruned: signal<{ reason: string }>({
    level: 'warn',
    message: 'Could not remove older backups',
    when: 'A backup completed, but backups beyond `BACKUP_KEEP` or `--keep` remain; `reason` says why.',
    action:
      'Fix the reason, or the backup location fills up. The next backup prunes again, or run npm run admin -- prune-backups',
    log: ({ reason }) => ({ reason }),
    count: ({ backupLastPruneFailure }) => backupLastPruneFailure.set(Date.now() / 1000),
  }),
  backupFailed: signal<{ reason: string }>({
    level: 'error',
    message: 'Backup failed',
    when: 'A backup failed; `reason` says why. Existing backups are intact.',
    action:
      'Fix the reason: space and permissions of BACKUP_TO; for a bucket, its keys and whether it responds. Then run npm run admin -- backup',
    log: ({ reason }) => ({ reason }),
    count: ({ backupLastFailure }) => backupLastFailure.set(Date.now() / 1000),
  }),
  backupRetried: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Scheduled backup failed; retrying',
    when: 'After each failure of a backup scheduled by `BACKUP_EVERY`; the pauses grow to half an hour.',
    action: 'Fix the reason in the line before this one; if there is none, the process was killed: check memory',
    log: ({ error }) => ({ error }),
    count: ({ backupLastFailure }) => backupLastFailure.set(Date.now() / 1000),
  }),
  backupsScheduled: measured<{ everyMs: number }>(({ backupInterval }, { everyMs }) =>
    backupInterval.set(everyMs / 1000),
  ),
});

interface MadeBackup {
  readonly id: string;
  readonly spans: number;
  readonly bytes: number;
  readonly newBytes: number;
  readonly seconds: number;
}

/** The time of the last backup, by the server or by a command. */
export function deriveBackups(log: LogEvent<LineName<typeof backupCatalog>>, metrics: Metrics) {
  let lastAt = 0;
  /** A moment that is still to come tells of a wrong clock, and of no age: alerts would wait for it. */
  const knownAt = () => (lastAt > Date.now() ? 0 : lastAt);
  const succeeded = (at: number) => {
    lastAt = Math.max(knownAt(), at);
  };
  metrics.watchBackupLastSuccess(() => knownAt() / 1000);
  let loggedAhead = '';
  return {
    backupFinished({ id, spans, bytes, newBytes, seconds }: MadeBackup): void {
      succeeded(Date.now());
      metrics.backupDuration.set(seconds);
      metrics.backupBytes.set(bytes);
      log('backupMade', { backup: id, spans, bytes, new_bytes: newBytes, ms: milliseconds(seconds) });
    },
    /** The last backup that is where they go was looked for. `ahead`: names of those that are dated ahead of the clock. */
    backupFound({ at, ahead, to }: { at: number | null; ahead: readonly string[]; to: string }): void {
      if (at !== null) succeeded(at);
      const backups = ahead.slice(0, NAMED).join(', ');
      if (backups !== '') log('backupDatedAhead', { backups, count: ahead.length, to }, backups === loggedAhead);
      loggedAhead = backups;
    },
  };
}
