import { Type } from '@sinclair/typebox';
import { choice, HTTP_URL, text, whole } from './kinds.js';

/** Where data is, and its backups; how full the disk may become. */
export const dataSettings = {
  DATA_DIR: text({
    default: './data',
    description: 'Directory of all data: the embedded ClickHouse, the write-ahead log, the SQLite file, images.',
  }),
  BACKUP_EVERY: Type.Optional(
    text({
      pattern: '^[1-9][0-9]{0,4}[mhd]$',
      must: 'be a number of minutes, hours or days, such as 30m, 6h or 1d',
      defaultText: 'off',
      description:
        'How often the running server is backed up to `BACKUP_TO`. Unset: only by `npm run admin -- backup`.',
    }),
  ),
  BACKUP_TO: Type.Optional(
    text({
      pattern: '^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^?#]*)?|(?![A-Za-z0-9+.-]+://).*)$',
      must: 'be a folder, or a bucket as s3://bucket/prefix',
      description:
        'Where the backups go that `BACKUP_EVERY` makes: a folder, best on another disk than `DATA_DIR`, or a bucket as ' +
        '`s3://bucket/prefix`.',
    }),
  ),
  BACKUP_KEEP: whole({
    default: 7,
    minimum: 1,
    maximum: 10_000,
    description:
      'How many backups stay in `BACKUP_TO`; with each further one that `BACKUP_EVERY` makes, the oldest goes.',
  }),
  BACKUP_S3_ENDPOINT: Type.Optional(
    text({
      pattern: HTTP_URL,
      must: 'be the http:// or https:// URL of a server that speaks S3',
      defaultText: '`S3_ENDPOINT`',
      description: 'URL of the S3-compatible server that has the buckets of backups.',
    }),
  ),
  BACKUP_S3_REGION: Type.Optional(
    text({ defaultText: '`S3_REGION`', description: 'Region of the buckets of backups.' }),
  ),
  BACKUP_S3_FORCE_PATH_STYLE: Type.Optional(
    choice(['true', 'false'], {
      defaultText: '`S3_FORCE_PATH_STYLE`',
      description: 'Whether URLs name buckets of backups in the path instead of the host name.',
    }),
  ),
  BACKUP_S3_ACCESS_KEY_ID: Type.Optional(
    text({
      defaultText: 'where the AWS SDK looks for it',
      description: 'Id of the key to the buckets of backups, where it is another than that to `S3_BUCKET`.',
    }),
  ),
  BACKUP_S3_SECRET_ACCESS_KEY: Type.Optional(
    text({
      secret: true,
      defaultText: 'where the AWS SDK looks for it',
      description: 'Secret of that key.',
    }),
  ),
  MIN_FREE_DISK_MB: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_073_741_824,
      defaultText: '5 % of the disk and at least 1024, of a small disk a quarter',
      description:
        'Disk space that stays free, on each disk with data: with less, spans are answered 503 until there is more again, while reads ' +
        'and deletions go on. 0: all of the disk may be filled.',
    }),
  ),
  ERASE_WITHIN_HOURS: whole({
    default: 24,
    minimum: 0,
    maximum: 720,
    description:
      'Hours within which texts that were deleted or replaced are in no file any more. In half of that time, what holds some is ' +
      'rewritten in the background. 0: they leave the files whenever ClickHouse happens to merge these, and the ids of what was ' +
      'deleted stay.',
  }),
};
