import { Type, type Static } from '@sinclair/typebox';
import { STORED_KINDS } from '../../../../domain/disk/disk.js';
import { MAX_RETENTION_DAYS, type Project } from '../../../../domain/identity/identity.js';
import { count, line, oneOf, orNull, time, uuid } from '../../../../domain/schema/parts.js';
import { formatTimestamp } from '../../../../domain/time/timestamp.js';

/** How the documentation groups these routes. */
export const TAG = 'Projects';

/** After how many days traces go. */
export const retentionDays = (description: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS, description });

export const ProjectPatch = Type.Object(
  {
    name: Type.Optional(line(200, 'Name of the project, for people.')),
    retention_days: Type.Optional(
      orNull(retentionDays('After how many days traces go, counted from the newest time in them; null: never.')),
    ),
  },
  { $id: 'ProjectPatch', minProperties: 1, description: 'What to change of a project; what is absent stays.' },
);

export const ProjectRead = Type.Object(
  {
    id: uuid('Id of the project.'),
    name: Type.String({ description: 'Name of the project.' }),
    created_at: time('When it was made.'),
    retention_days: orNull(retentionDays('After how many days its traces go; null: they are kept for ever.')),
  },
  { $id: 'Project', description: 'A project.' },
);
export type ProjectRead = Static<typeof ProjectRead>;

export function projectRead({ id, name, created_at, retention_days }: Project): ProjectRead {
  return { id, name, created_at: formatTimestamp(created_at), retention_days };
}

const counted = (what: string) => Type.Object({ count: count(`How many there are, exactly.`) }, { description: what });

const StoredBytes = Type.Object(
  {
    spans: count('Spans with their texts.'),
    rollups: count('Everything else in ClickHouse: figures of traces and sessions, and what they are computed from.'),
    words: count('The index for searches by text.'),
    attachments: count('Images, counted at most a minute ago.'),
    sqlite: count('The SQLite file.'),
  },
  { description: 'Bytes by what they are of, of all projects together.' },
);

const DiskRead = Type.Object(
  {
    name: Type.String({
      description:
        '`data`: that of DATA_DIR; `clickhouse` and `attachments`: where these are on another disk, or the spans on another server.',
    }),
    holds: Type.Array(oneOf(STORED_KINDS, 'What of `stored_bytes` lies on it.'), { description: 'What lies on it.' }),
    free_bytes: count('Bytes that are free.'),
    total_bytes: count('Bytes in all.'),
    min_free_bytes: count('Bytes that are to stay free (`MIN_FREE_DISK_MB`): with fewer, spans are refused.'),
    grows_bytes_per_day: orNull(
      Type.Integer({
        description:
          'By how much what is stored there grew in the last day, or in a day at the pace since the server has been running; ' +
          'negative: it shrank; null: not known in the first hour.',
      }),
    ),
    days_left: orNull(
      count('Whole days until spans are refused, at that pace; null: it does not grow, or it is not known.'),
    ),
  },
  { description: 'A disk that data lies on.' },
);

export const StorageRead = Type.Object(
  {
    spans: Type.Object(
      {
        count: count("How many there are, exactly; with the server's own calls of models."),
        oldest_started_at: orNull(time('Start of the oldest; null without any.')),
        estimated_bytes: count('Bytes on disk, estimated by the share of the project in all rows of spans.'),
      },
      { description: 'Spans of the project.' },
    ),
    traces: counted('Traces of the project.'),
    sessions: counted('Sessions of the project.'),
    attachments: Type.Object(
      { count: count('How many images are kept, exactly; each once.'), bytes: count('Their bytes together, exactly.') },
      { description: 'Images of spans of the project.' },
    ),
    server: Type.Object(
      {
        embedded: Type.Boolean({ description: 'Whether spans are stored by this server, not by another ClickHouse.' }),
        database_bytes: count('Bytes of the database of spans on disk, of all projects together.'),
        sqlite_bytes: count('Bytes of the SQLite file, of all projects together.'),
        disk: orNull(
          Type.Object(
            { free_bytes: count('Bytes that are free.'), total_bytes: count('Bytes in all.') },
            { description: 'The disk of DATA_DIR; null when spans are stored by another ClickHouse.' },
          ),
        ),
        stored_bytes: StoredBytes,
        disks: Type.Array(DiskRead, { description: 'The disks that data lies on.' }),
      },
      { description: 'Where it lies.' },
    ),
  },
  { $id: 'ProjectStorage', description: 'What is stored of a project.' },
);
