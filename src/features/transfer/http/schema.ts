import { Type, type TSchema } from '@sinclair/typebox';
import { MAX_PAGE_RECORDS, MAX_RECORDS, PARTS } from '../parts.js';
import { RECORDS } from '../records.js';
import { count, oneOf, orNull, time } from '../../../engine/schema/parts.js';
import { time as timeParameter } from '../../../http/parameter.js';
import { queryOf } from '../../../http/query.js';
import { project_id } from '../../../http/parameters.js';

export const TAG = 'Moving';

export const PartParams = Type.Object({
  project_id,
  part: oneOf(PARTS, 'Type of records, in the order in which to import them.'),
});

export const pageQuery = queryOf(
  Type.Object({
    after: Type.Optional(
      Type.String({
        maxLength: 2000,
        description: 'Where to continue: `next` of the previous page; absent: at the beginning.',
      }),
    ),
    as_of: Type.Optional(
      timeParameter(
        'Data other than spans that was created later is excluded: `as_of` of the first page; absent: now.',
      ),
    ),
    limit: Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE_RECORDS,
      default: MAX_RECORDS,
      description: 'Maximum number of records. There are fewer if they are large.',
    }),
  }),
);

/** A record of any part: which one, the path says. */
const AnyRecord = Type.Union(Object.values(RECORDS), { description: 'A record of the part.' });

export const ExportPage = Type.Object(
  {
    as_of: time('The time to send as `as_of` for further pages.'),
    records: Type.Array(AnyRecord, { description: 'The records.' }),
    next: orNull(Type.String({ description: 'Where to continue; null: there is nothing.' })),
    more: Type.Boolean({ description: 'Whether there is more at this moment.' }),
  },
  { $id: 'ExportPage', description: 'A page of records of one part.' },
);

export const ImportResult = Type.Object(
  {
    stored: count('Records that were added.'),
    unchanged: count('Records that existed already, and were not changed.'),
  },
  { $id: 'ImportResult', description: 'Result of the import.' },
);

const arrayOf = (record: TSchema) => Type.Array(record, { maxItems: MAX_RECORDS, description: 'The records.' });

/** What a body may be, by the part. */
export const BODIES: Readonly<Record<string, TSchema>> = Object.fromEntries(
  PARTS.map((part) => [part, arrayOf(RECORDS[part])]),
);
/** The body as it is described: its records are those that the export answers, and described there. */
export const AnyBody = arrayOf(
  Type.Record(Type.String(), Type.Unknown(), { description: 'A record of the part, as its export returns it.' }),
);
