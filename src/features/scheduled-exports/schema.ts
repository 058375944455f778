import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { count, line, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { EXPORT_FORMATS } from '../../engine/traces/model/list/export.js';
import { SCHEDULED_LISTS } from './schedule.js';

/** Most schedules of a project. */
export const MAX_SCHEDULES = 20;
const MAX_QUERY = 10_000;
const MAX_MINUTES = 366 * 24 * 60;

const name = line(200, 'Name of the export.');
const list = oneOf(SCHEDULED_LISTS, 'The list.');
const format = oneOf(EXPORT_FORMATS, 'The format of the objects.');
const every_minutes = Type.Integer({
  minimum: 1,
  maximum: MAX_MINUTES,
  description: 'Minutes between two objects, such as 60. An object that would be empty is not made.',
});
const paused = Type.Boolean({ description: 'Whether nothing is exported for now.' });

export const ScheduledExportInput = Type.Object(
  {
    name,
    list,
    query: optional(
      Type.String({
        maxLength: MAX_QUERY,
        description:
          'Filters of the list, and of spans, traces and sessions `fields` and `text_limit`, as in its URL, such as `span_kind=llm&fields=name,cost`. Default: everything.',
      }),
    ),
    format: optional(format),
    every_minutes,
  },
  { $id: 'ScheduledExportInput', description: 'A new scheduled export.' },
);
export type ScheduledExportInput = Static<typeof ScheduledExportInput>;

export const ScheduledExportPatch = Type.Object(
  { name: optional(name), every_minutes: optional(every_minutes), paused: optional(paused) },
  { $id: 'ScheduledExportPatch', description: 'What to change; absent fields stay.' },
);
export type ScheduledExportPatch = Static<typeof ScheduledExportPatch>;

export const ScheduledExportRead = Type.Object(
  {
    id: uuid('Id of the scheduled export.'),
    ...{ name, list },
    query: Type.String({ description: 'Filters, `fields` and `text_limit`.' }),
    format,
    every_minutes,
    paused,
    next_at: time('When the next object is due, or an attempt that failed is repeated.'),
    objects: count('Number of objects that were uploaded.'),
    rows: count('Number of rows in them.'),
    last_object: orNull(
      Type.String({ description: "Name of the newest object, below the operator's prefix; null: there is none." }),
    ),
    last_at: orNull(time('When it was uploaded.')),
    failures: count('Number of attempts that failed since the last one that did not.'),
    error: orNull(Type.String({ description: 'Why the last attempt failed; null: it did not.' })),
    created_at: time('When the export was created.'),
    created_by: uuid('User who created it.'),
  },
  { $id: 'ScheduledExport', description: "An export of a list to the operator's bucket, every so often." },
);
export type ScheduledExportRead = Static<typeof ScheduledExportRead>;
