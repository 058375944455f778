import { Type, type Static } from '@sinclair/typebox';
import { STORED_KINDS } from '../../../engine/disk/disk.js';
import { MAX_RETENTION_DAYS, type Project } from '../../../engine/identity/identity.js';
import { count, line, oneOf, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { formatTimestamp } from '../../../engine/timestamp.js';

/** How the documentation groups these routes. */
export const TAG = 'Projects';

/** After how many days traces go. */
export const retentionDays = (description: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS, description });

export const ProjectCreate = Type.Object(
  { name: line(200, 'Name of the project, for people.') },
  { $id: 'ProjectCreate', description: 'A project to create.' },
);

export const ProjectPatch = Type.Object(
  {
    name: Type.Optional(line(200, 'Name of the project, for people.')),
    retention_days: Type.Optional(
      orNull(
        retentionDays(
          'Number of days after which traces are removed, counted from the newest time in them; null: never.',
        ),
      ),
    ),
  },
  { $id: 'ProjectPatch', minProperties: 1, description: 'Changes to a project; absent fields do not change.' },
);

export const ProjectRead = Type.Object(
  {
    id: uuid('Id of the project.'),
    name: Type.String({ description: 'Name of the project.' }),
    created_at: time('When the project was created.'),
    retention_days: orNull(
      retentionDays('Number of days after which its traces are removed; null: they are kept forever.'),
    ),
  },
  { $id: 'Project', description: 'A project.' },
);
export type ProjectRead = Static<typeof ProjectRead>;

export function projectRead({ id, name, created_at, retention_days }: Project): ProjectRead {
  return { id, name, created_at: formatTimestamp(created_at), retention_days };
}

const counted = (what: string) => Type.Object({ count: count('Exact count.') }, { description: what });

const StoredBytes = Type.Object(
  {
    spans: count('Spans with their texts.'),
    rollups: count(
      'Everything else in ClickHouse: figures of traces and sessions, and the data from which they are computed.',
    ),
    words: count('The index for text searches.'),
    attachments: count('Images, counted at most a minute ago.'),
    sqlite: count('The SQLite file.'),
  },
  { description: 'Bytes by type of data, of all projects together.' },
);

const DiskRead = Type.Object(
  {
    name: Type.String({
      description:
        '`data`: that of DATA_DIR; `clickhouse` and `attachments`: where these are on another disk, or the spans on another server.',
    }),
    holds: Type.Array(oneOf(STORED_KINDS, 'Which of `stored_bytes` are on it.'), { description: 'Data on it.' }),
    free_bytes: count('Free bytes.'),
    total_bytes: count('Total bytes.'),
    min_free_bytes: count('Bytes to keep free (`MIN_FREE_DISK_MB`); with less, spans are refused.'),
    grows_bytes_per_day: orNull(
      Type.Integer({
        description:
          'Growth of the data stored there in the last day, or per day at the rate since the server started; negative: ' +
          'it shrank; null: unknown in the first hour.',
      }),
    ),
    days_left: orNull(
      count('Whole days until spans are refused, at that rate; null: it does not grow, or this is unknown.'),
    ),
  },
  { description: 'A disk with data.' },
);

export const StorageRead = Type.Object(
  {
    spans: Type.Object(
      {
        count: count("Exact count, including the server's own model calls."),
        oldest_started_at: orNull(time('Start of the oldest; null without any.')),
        estimated_bytes: count('Bytes on disk, estimated by the share of the project in all rows of spans.'),
      },
      { description: 'Spans of the project.' },
    ),
    traces: counted('Traces of the project.'),
    sessions: counted('Sessions of the project.'),
    attachments: Type.Object(
      { count: count('Exact number of images; each counts once.'), bytes: count('Their total bytes, exactly.') },
      { description: 'Images of spans of the project.' },
    ),
    server: Type.Object(
      {
        embedded: Type.Boolean({ description: 'Whether this server stores spans, not an external ClickHouse.' }),
        database_bytes: count('Bytes of the database of spans on disk, of all projects together.'),
        sqlite_bytes: count('Bytes of the SQLite file, of all projects together.'),
        disk: orNull(
          Type.Object(
            { free_bytes: count('Free bytes.'), total_bytes: count('Total bytes.') },
            { description: 'The disk of DATA_DIR; null if an external ClickHouse stores spans.' },
          ),
        ),
        stored_bytes: StoredBytes,
        disks: Type.Array(DiskRead, { description: 'The disks with data.' }),
      },
      { description: 'Storage location.' },
    ),
  },
  { $id: 'ProjectStorage', description: 'Stored data of a project.' },
);
