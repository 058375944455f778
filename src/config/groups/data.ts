import { resolve } from 'node:path';
import { MEGABYTE } from '../limits.js';
import type { Settings } from '../settings.js';

/** Where data is, and for how long. */
export function dataGroup(settings: Settings) {
  return {
    /** Absolute. */
    dataDir: resolve(settings.DATA_DIR),
    backup: {
      /** Null: the server makes none by itself. */
      schedule: scheduleOf(settings),
      /** Where buckets of backups are: where that of images is, unless settings say otherwise. */
      s3: {
        endpoint: settings.BACKUP_S3_ENDPOINT ?? settings.S3_ENDPOINT ?? null,
        region: settings.BACKUP_S3_REGION ?? settings.S3_REGION,
        forcePathStyle: (settings.BACKUP_S3_FORCE_PATH_STYLE ?? settings.S3_FORCE_PATH_STYLE) === 'true',
        credentials: backupKeys(settings),
      },
    },
    /** The bucket of scheduled exports; null: there are none. */
    exportTo: settings.EXPORT_TO ?? null,
    /** Null: as many as suit the size of each disk. 0: none. */
    minFreeDiskBytes: settings.MIN_FREE_DISK_MB === undefined ? null : settings.MIN_FREE_DISK_MB * MEGABYTE,
    /** Null: what is deleted leaves the files whenever they happen to be rewritten. */
    eraseWithinMs: settings.ERASE_WITHIN_HOURS === 0 ? null : settings.ERASE_WITHIN_HOURS * 3_600_000,
    auditDays: settings.AUDIT_DAYS,
    /** Null: nothing is removed for its age. */
    retentionIntervalMs: settings.RETENTION_INTERVAL_SECONDS === 0 ? null : settings.RETENTION_INTERVAL_SECONDS * 1000,
  };
}

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function scheduleOf({ BACKUP_EVERY: every, BACKUP_TO: to, BACKUP_KEEP: keep }: Settings) {
  if (every === undefined || to === undefined) return null;
  const unit = every.slice(-1) as keyof typeof UNITS_MS;
  const everyMs = Number(every.slice(0, -1)) * UNITS_MS[unit];
  return { everyMs, to: to.startsWith('s3://') ? to : resolve(to), keep };
}

/** Undefined: they are where the AWS SDK looks for them. */
function backupKeys({ BACKUP_S3_ACCESS_KEY_ID: accessKeyId, BACKUP_S3_SECRET_ACCESS_KEY: secretAccessKey }: Settings) {
  return accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey };
}
