import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { line, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { MAX_COLUMNS } from '../../engine/traces/model/list/columns.js';

/** Most saved views of a project. */
export const MAX_SAVED_VIEWS = 500;
const MAX_QUERY = 4_000;
/** Longest names of all columns together, in characters. */
export const MAX_COLUMN_NAMES = 4_000;
const MAX_COLUMN = 1_100;

const LISTS = ['spans', 'traces', 'sessions'] as const;

const name = line(200, 'Name of the view; no other saved view of the project has it.');
const list = oneOf(LISTS, 'The list.');
const query = Type.String({
  maxLength: MAX_QUERY,
  description:
    'Filters, `sort_by` and `sort_order`, as in the URL of the list, such as `status=error&started_after=7d&sort_by=cost`. ' +
    'A bound such as `started_after=7d` counts back from when the view is opened.',
});
const columns = Type.Array(Type.String({ minLength: 1, maxLength: MAX_COLUMN }), {
  minItems: 1,
  maxItems: MAX_COLUMNS,
  uniqueItems: true,
  description:
    'Columns that the console shows, in this order: fields of the list, `tags.<key>` and `scores.<name>`; together at most ' +
    `${MAX_COLUMN_NAMES} characters.`,
});

export const SavedViewInput = Type.Object(
  {
    name,
    list,
    query: optional({ ...query, description: `${query.description ?? ''} Default: everything.` }),
    columns: optional({ ...columns, description: `${columns.description ?? ''} Default: the usual ones.` }),
  },
  { $id: 'SavedViewInput', description: 'A new saved view.' },
);
export type SavedViewInput = Static<typeof SavedViewInput>;

export const SavedViewPatch = Type.Object(
  {
    name: optional(name),
    query: optional(query),
    columns: Type.Optional(orNull({ ...columns, description: `${columns.description ?? ''} null: the usual ones.` })),
  },
  { $id: 'SavedViewPatch', description: 'What to change; absent fields stay.' },
);
export type SavedViewPatch = Static<typeof SavedViewPatch>;

/** What a view shows, as answers and exports have it. */
export const VIEW_FIELDS = {
  ...{ name, list, query },
  columns: orNull({ ...columns, description: `${columns.description ?? ''} null: the usual ones.` }),
};

export const SavedViewRead = Type.Object(
  {
    id: uuid('Id of the view.'),
    ...VIEW_FIELDS,
    created_at: time('When the view was created.'),
    created_by: uuid('User who created it.'),
    updated_at: time('When it was last changed.'),
  },
  { $id: 'SavedView', description: 'A list with its filters, order and columns, under a name.' },
);
export type SavedViewRead = Static<typeof SavedViewRead>;
