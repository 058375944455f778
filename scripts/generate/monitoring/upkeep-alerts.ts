import { I, type Alert, type Series } from './alert.js';

const GIB = 2 ** 30;
const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Four hours of a server, for each minute of which promtool evaluates all rules: when its last backup was and when it started, in seconds, and how often it makes one. */
function backups({ last, start, every }: Readonly<Record<'last' | 'start' | 'every', number>>): Series {
  const minutes = 4 * 60;
  return {
    [`spanhouse_backup_last_success_timestamp_seconds{${I}}`]: `${last}x${minutes}`,
    [`process_start_time_seconds{${I}}`]: `${start}x${minutes}`,
    [`spanhouse_backup_interval_seconds{${I}}`]: `${every}x${minutes}`,
  };
}

/** Alerts of disk, backups and retention. */
export const UPKEEP_ALERTS: readonly Alert[] = [
  {
    name: 'SpanhouseDiskLow',
    severity: 'warning',
    means: 'A disk has less than twice as much free space as `MIN_FREE_DISK_MB` reserves.',
    query:
      'min by (instance, disk) (spanhouse_disk_free_bytes) < 2 * max by (instance, disk) (spanhouse_disk_min_free_bytes)',
    for: '5m',
    summary: 'The disk {{ $labels.disk }} of {{ $labels.instance }} has {{ $value | humanize1024 }}B left',
    description:
      'Below MIN_FREE_DISK_MB, spans are refused. Free space or enlarge the disk. npm run admin -- storage shows ' +
      'what uses space; retention or deletion of old projects frees it permanently.',
    test: {
      at: '10m',
      ill: {
        [`spanhouse_disk_free_bytes{${I},disk="data"}`]: `${3 * GIB}x20`,
        [`spanhouse_disk_min_free_bytes{${I},disk="data"}`]: `${2 * GIB}x20`,
      },
      well: {
        [`spanhouse_disk_free_bytes{${I},disk="data"}`]: `${5 * GIB}x20`,
        [`spanhouse_disk_min_free_bytes{${I},disk="data"}`]: `${2 * GIB}x20`,
      },
      labels: { disk: 'data' },
      value: '3Gi',
    },
  },
  {
    name: 'SpanhouseDiskFillsUp',
    severity: 'warning',
    means: 'At the rate of the last six hours, a disk is full in three days.',
    query:
      'predict_linear(spanhouse_disk_free_bytes[6h], 3 * 86400) < 0 and spanhouse_disk_free_bytes < 0.3 * spanhouse_disk_total_bytes',
    for: '1h',
    summary:
      'The disk {{ $labels.disk }} of {{ $labels.instance }} is full in three days at the rate of the last hours',
    description:
      'Free space, enlarge the disk, or set or shorten retention_days of the projects that use most (npm run admin ' +
      '-- storage).',
    test: {
      at: '9h',
      ill: {
        [`spanhouse_disk_free_bytes{${I},disk="data"}`]: `${20 * GIB}-${GIB / 128}x600`,
        [`spanhouse_disk_total_bytes{${I},disk="data"}`]: `${100 * GIB}x600`,
      },
      well: {
        [`spanhouse_disk_free_bytes{${I},disk="data"}`]: `${90 * GIB}-${GIB / 32}x600`,
        [`spanhouse_disk_total_bytes{${I},disk="data"}`]: `${100 * GIB}x600`,
      },
      labels: { disk: 'data' },
    },
  },
  {
    name: 'SpanhouseDiskFull',
    severity: 'critical',
    means: 'A disk has less free space than `MIN_FREE_DISK_MB` reserves: spans are refused.',
    query:
      'min by (instance, disk) (spanhouse_disk_free_bytes) < max by (instance, disk) (spanhouse_disk_min_free_bytes)',
    for: '1m',
    summary: 'The disk {{ $labels.disk }} of {{ $labels.instance }} is full: spans are refused',
    description:
      'Reads and deletions continue. Free space or enlarge the disk. The server accepts spans again automatically once a tenth more than MIN_FREE_DISK_MB is free.',
    test: {
      at: '5m',
      ill: {
        [`spanhouse_disk_free_bytes{${I},disk="data"}`]: `${GIB}x20`,
        [`spanhouse_disk_min_free_bytes{${I},disk="data"}`]: `${2 * GIB}x20`,
      },
      well: {
        [`spanhouse_disk_free_bytes{${I},disk="data"}`]: `${3 * GIB}x20`,
        [`spanhouse_disk_min_free_bytes{${I},disk="data"}`]: `${2 * GIB}x20`,
      },
      labels: { disk: 'data' },
    },
  },
  {
    name: 'SpanhouseBackupOld',
    severity: 'critical',
    means:
      'There was no successful backup for twice `BACKUP_EVERY`, since the last one or, if none is known, since the ' +
      'server started.',
    // Only of backups that the server makes by itself. One that hangs, also the first, is told by nothing else.
    query:
      'time() - max by (instance) (spanhouse_backup_last_success_timestamp_seconds > 0 or process_start_time_seconds) > 2 * max by (instance) (spanhouse_backup_interval_seconds > 0)',
    for: '30m',
    summary: 'There was no successful backup of {{ $labels.instance }} for {{ $value | humanizeDuration }}',
    description:
      'Check the log for the reason: the backup destination (space, permissions), or a server that was not running ' +
      'at the time. If the log has none, a backup hangs, for example because a network folder does not respond: ' +
      'check the folder, and restart the server. Create one now: npm run admin -- backup.',
    test: {
      at: '3h',
      ill: [backups({ last: 1, start: 2 * HOUR, every: HOUR }), backups({ last: 0, start: 1, every: HOUR })],
      well: [backups({ last: 1, start: 1, every: 0 }), backups({ last: 0, start: 2 * HOUR, every: HOUR })],
      value: '2h 59m 59s',
    },
  },
  {
    name: 'SpanhouseBackupFailed',
    severity: 'warning',
    means: 'The latest backup failed.',
    query:
      'max by (instance) (spanhouse_backup_last_failure_timestamp_seconds) > max by (instance) (spanhouse_backup_last_success_timestamp_seconds)',
    for: '0m',
    summary: 'A backup of {{ $labels.instance }} failed',
    description:
      'The log has the reason: the backup destination (space, permissions), or the disk. Existing backups are ' +
      'complete. Create another: npm run admin -- backup.',
    test: {
      at: '5m',
      ill: {
        [`spanhouse_backup_last_failure_timestamp_seconds{${I}}`]: '200x9',
        [`spanhouse_backup_last_success_timestamp_seconds{${I}}`]: '250 100x9',
      },
      well: {
        [`spanhouse_backup_last_failure_timestamp_seconds{${I}}`]: '200x9',
        [`spanhouse_backup_last_success_timestamp_seconds{${I}}`]: '300x9',
      },
    },
  },
  {
    name: 'SpanhouseBackupsNotPruned',
    severity: 'warning',
    means: 'The latest backup completed, but older ones beyond `BACKUP_KEEP` (or `--keep`) were not removed.',
    query:
      'max by (instance) (spanhouse_backup_last_prune_failure_timestamp_seconds) > max by (instance) (spanhouse_backup_last_success_timestamp_seconds)',
    for: '0m',
    summary: 'Older backups of {{ $labels.instance }} were not removed',
    description:
      'The backup destination fills up. The log event backupsNotPruned has the reason, such as a damaged list of a ' +
      'backup. Act on it; the next backup prunes again, or npm run admin -- prune-backups.',
    test: {
      at: '5m',
      ill: {
        [`spanhouse_backup_last_prune_failure_timestamp_seconds{${I}}`]: '300x9',
        [`spanhouse_backup_last_success_timestamp_seconds{${I}}`]: '350 250x9',
      },
      well: {
        [`spanhouse_backup_last_prune_failure_timestamp_seconds{${I}}`]: '300x9',
        [`spanhouse_backup_last_success_timestamp_seconds{${I}}`]: '350x9',
      },
    },
  },
  {
    name: 'SpanhouseRetentionBehind',
    severity: 'warning',
    means: 'Traces are still stored two days after their retention ended.',
    query: `max by (instance) (spanhouse_retention_behind_seconds) > ${2 * DAY}`,
    for: '6h',
    summary: 'Retention of {{ $labels.instance }} is {{ $value | humanizeDuration }} behind',
    description:
      "Spans stay longer than their project's retention. This is normal after retention_days was shortened, until " +
      'all are removed. Otherwise, check the log for the reason why removals fail.',
    test: {
      at: '8h',
      ill: { [`spanhouse_retention_behind_seconds{${I}}`]: `${4 * DAY}x600` },
      well: { [`spanhouse_retention_behind_seconds{${I}}`]: `${DAY}x600` },
      value: '4d 0h 0m 0s',
    },
  },
  {
    name: 'SpanhouseClockWrong',
    severity: 'warning',
    means: 'The clock jumped, or the server was off for more than a day: retention removes nothing, or too little.',
    query: 'max by (instance) (abs(spanhouse_clock_ahead_seconds)) > 0',
    for: '10m',
    summary:
      'The clock of {{ $labels.instance }} differs by {{ $value | humanizeDuration }} from what the server expects',
    description:
      'Check the clock of the machine. If it is wrong, set it, and retention resumes. If it is right, for example ' +
      'after months off or if it was wrong before: npm run admin -- trust-clock. Until then, or until the server ' +
      'has run for as long as it was off, traces stay.',
    test: {
      at: '15m',
      ill: [
        { [`spanhouse_clock_ahead_seconds{${I}}`]: `${4 * DAY}x30` },
        { [`spanhouse_clock_ahead_seconds{${I}}`]: `-${4 * DAY}x30` },
      ],
      well: [
        { [`spanhouse_clock_ahead_seconds{${I}}`]: `${4 * DAY}x5 0x30` },
        { [`spanhouse_clock_ahead_seconds{${I}}`]: '0x30' },
      ],
      value: '4d 0h 0m 0s',
    },
  },
];
