import { Type, type Static } from '@sinclair/typebox';
import { MAX_RETENTION_DAYS, type Project } from '../../../../domain/identity/identity.js';
import { count, line, orNull, time, uuid } from '../../../../domain/schema/parts.js';
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
      },
      { description: 'Where it lies.' },
    ),
  },
  { $id: 'ProjectStorage', description: 'What is stored of a project.' },
);
