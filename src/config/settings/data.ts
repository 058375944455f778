import { Type } from '@sinclair/typebox';
import { choice, HTTP_URL, text, whole } from './kinds.js';

/** Where data is, and its backups; how full the disk may become. */
export const dataSettings = {
  DATA_DIR: text({
    default: './data',
    description: 'Directory for all data: the embedded ClickHouse, the write-ahead log, the SQLite file and images.',
  }),
  BACKUP_EVERY: Type.Optional(
    text({
      pattern: '^[1-9][0-9]{0,4}[mhd]$',
      must: 'be a number of minutes, hours or days, such as 30m, 6h or 1d',
      defaultText: 'off',
      description:
        'How often the running server makes a backup to `BACKUP_TO`. Unset: only `npm run admin -- backup` makes ' +
        'backups.',
    }),
  ),
  BACKUP_TO: Type.Optional(
    text({
      pattern: '^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^?#]*)?|(?![A-Za-z0-9+.-]+://).*)$',
      must: 'be a folder, or a bucket as s3://bucket/prefix',
      description:
        'Where `BACKUP_EVERY` stores backups: a folder, best on another disk than `DATA_DIR`, or a bucket as ' +
        '`s3://bucket/prefix`.',
    }),
  ),
  BACKUP_KEEP: whole({
    default: 7,
    minimum: 1,
    maximum: 10_000,
    description:
      'Number of backups to keep in `BACKUP_TO`. Each further backup that `BACKUP_EVERY` makes replaces the oldest.',
  }),
  BACKUP_S3_ENDPOINT: Type.Optional(
    text({
      pattern: HTTP_URL,
      must: 'be the http:// or https:// URL of a server that speaks S3',
      defaultText: '`S3_ENDPOINT`',
      description: 'URL of the S3-compatible server for backup buckets.',
    }),
  ),
  BACKUP_S3_REGION: Type.Optional(text({ defaultText: '`S3_REGION`', description: 'Region of the backup buckets.' })),
  BACKUP_S3_FORCE_PATH_STYLE: Type.Optional(
    choice(['true', 'false'], {
      defaultText: '`S3_FORCE_PATH_STYLE`',
      description: 'Whether URLs name backup buckets in the path instead of the host name.',
    }),
  ),
  BACKUP_S3_ACCESS_KEY_ID: Type.Optional(
    text({
      defaultText: 'from the AWS SDK',
      description: 'Access key id for the backup buckets, if it differs from that for `S3_BUCKET`.',
    }),
  ),
  BACKUP_S3_SECRET_ACCESS_KEY: Type.Optional(
    text({
      secret: true,
      defaultText: 'from the AWS SDK',
      description: 'Secret access key for the backup buckets.',
    }),
  ),
  EXPORT_TO: Type.Optional(
    text({
      pattern: '^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^?#]*)?$',
      must: 'be a bucket as s3://bucket/prefix',
      defaultText: 'none',
      description:
        'Bucket for scheduled exports, as `s3://bucket/prefix`; each project has its id as a folder. Server and keys are those of ' +
        '`BACKUP_S3_…`. Unset: projects cannot schedule exports.',
    }),
  ),
  MIN_FREE_DISK_MB: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_073_741_824,
      defaultText: '5 % of the disk and at least 1024; a quarter of a small disk',
      description:
        'Space to keep free on each disk with data. With less, spans get 503 until more is free; reads and deletions ' +
        'continue. 0: the whole disk may be filled.',
    }),
  ),
  AUDIT_DAYS: whole({
    default: 400,
    minimum: 1,
    maximum: 36_500,
    description:
      'Number of days to keep entries of the audit log. The newest entry of a project stays, and at most its newest 200,000.',
  }),
  ERASE_WITHIN_HOURS: whole({
    default: 24,
    minimum: 0,
    maximum: 720,
    description:
      'Hours within which deleted and replaced texts leave all files. Twice in that time, and soon after a start, the ' +
      'server rewrites files that contain some, in the background. 0: they leave the files whenever ClickHouse happens to ' +
      'merge these, and the ids of deleted data stay.',
  }),
};
