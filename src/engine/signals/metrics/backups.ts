import { REQUEST_SECONDS, type MetricMaker } from './maker.js';

/** Backups. */
export function backupMetrics({ histogram, gauge, watched }: MetricMaker) {
  return {
    watchBackupLastSuccess: watched(
      'spanhouse_backup_last_success_timestamp_seconds',
      'Time of the last backup, in Unix seconds; 0: none is known. Age: time() minus it.',
    ),
    backupLastFailure: gauge(
      'spanhouse_backup_last_failure_timestamp_seconds',
      'Time of the last failed backup, in Unix seconds; 0: none since startup.',
    ),
    backupLastPruneFailure: gauge(
      'spanhouse_backup_last_prune_failure_timestamp_seconds',
      'Time at which older backups last could not be removed after a backup, in Unix seconds; 0: never since ' +
        'startup.',
    ),
    backupInterval: gauge(
      'spanhouse_backup_interval_seconds',
      'Interval of scheduled backups; 0: the server makes none.',
    ),
    backupDuration: gauge('spanhouse_backup_duration_seconds', 'Duration of the last backup.'),
    backupBytes: gauge('spanhouse_backup_bytes', 'Bytes in the last backup, including those shared with earlier ones.'),
    backupCommitsHeld: histogram(
      'spanhouse_backup_commits_held_seconds',
      'Time that commits waited for the snapshot of a backup.',
      REQUEST_SECONDS,
    ),
  };
}
