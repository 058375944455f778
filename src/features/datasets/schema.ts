import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { byKey, count, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { MAX_COLUMNS, ROLES } from './dataset.js';

/** Last segments of paths below a dataset, which names cannot have among their own. */
const RESERVED = ['data', 'versions', 'tags', 'diff', 'rows', 'download'];
export const MAX_MESSAGE = 10_000;
/** Most rows of which a request may say by their ids that they go. */
const MAX_REMOVED = 10_000;
const MAX_TEXT = 10_000;

/** The names of segments, between slashes. */
const SEGMENT = `(?!(?:${RESERVED.join('|')}|\\.{1,2})(?:/|$))[A-Za-z0-9._-](?:[A-Za-z0-9._ -]*[A-Za-z0-9._-])?`;
export const DatasetName = Type.String({
  pattern: `^(?=.{1,128}$)(?![0-9a-f]{8}-[0-9a-f]{4}-)${SEGMENT}(?:/${SEGMENT})*$`,
  'x-must': `have 1 to 128 characters of A-Z, a-z, 0-9, dot, underscore, hyphen and space; slashes make folders, none of which may be called ., .. or ${RESERVED.join(', ')}, begin or end with a space, or begin like a UUID`,
  description: 'Name of the dataset. Slashes make folders.',
});

/** Longest name of a column, in characters. */
export const MAX_COLUMN_NAME = 200;
export const ColumnName = Type.String({ minLength: 1, maxLength: MAX_COLUMN_NAME, description: 'Name of a column.' });
const columnNames = {
  propertyNames: {
    minLength: 1,
    maxLength: MAX_COLUMN_NAME,
    'x-must': `have names of columns of 1 to ${MAX_COLUMN_NAME} characters`,
  },
};

const role = oneOf(ROLES, 'What the column is for.');
const Roles = byKey(role, {
  ...columnNames,
  maxProperties: MAX_COLUMNS,
  description: 'What columns are for, by name.',
});
export const Description = Type.String({ maxLength: MAX_TEXT, description: 'What the dataset is.' });

/** Clients of this interface send `slug` for the name, and more that means nothing here. */
export const DatasetInput = Type.Object(
  {
    name: optional(DatasetName),
    slug: optional(Type.String({ ...DatasetName, description: 'The same as `name`.' })),
    description: optional(Description),
    roles: optional(Roles),
  },
  { $id: 'DatasetInput', description: 'A new dataset.' },
);
export type DatasetInput = Static<typeof DatasetInput>;

export const DatasetPatchInput = Type.Object(
  { name: optional(DatasetName), description: optional(Description), roles: optional(Roles) },
  { $id: 'DatasetPatch', description: 'What to change; absent fields stay.' },
);

const rowCount = count('Number of rows.');

export const VersionRead = Type.Object(
  {
    id: uuid('Id of the version.'),
    version_number: Type.Integer({ minimum: 1, description: 'Number of the version, from 1 on without gaps.' }),
    message: Type.String({ description: 'Version note.' }),
    columns: Type.Array(Type.String(), { description: 'Names of the columns, in their order.' }),
    row_count: rowCount,
    added: count('Rows that the version before does not have.'),
    changed: count('Rows whose content differs from that in the version before.'),
    removed: count('Rows of the version before that are gone.'),
    created_at: time('When it was made.'),
    created_by: uuid('Id of the user who made it.'),
  },
  { $id: 'DatasetVersion', description: 'A version of a dataset. It never changes.' },
);

export const ListedVersionRead = Type.Object(
  {
    ...VersionRead.properties,
    created_by_name: Type.String({ description: 'Name of the user who made it.' }),
  },
  { $id: 'ListedDatasetVersion', description: 'A version of a dataset in a list. It never changes.' },
);

export const DatasetRead = Type.Object(
  {
    id: uuid('Id of the dataset.'),
    name: Type.String({ description: 'Name of the dataset.' }),
    slug: Type.String({ description: 'The same as `name`, for clients that call it so.' }),
    description: Type.String({ description: 'What the dataset is.' }),
    roles: Roles,
    subsets: Type.Array(Type.String(), { description: 'Always `default`, for clients that ask by subset.' }),
    bytes: count('Size of all different rows in all versions, in bytes.'),
    created_at: time('When it was created.'),
    updated_at: time('When it was last changed, or got its newest version.'),
    latest_version: orNull(VersionRead),
  },
  { $id: 'Dataset', description: 'A dataset.' },
);

/** Formats of rows, by media type. */
export const UPLOAD_TYPES = {
  'application/json': 'json',
  'application/x-ndjson': 'jsonl',
  'application/jsonl': 'jsonl',
  'text/csv': 'csv',
  'application/vnd.apache.parquet': 'parquet',
} as const;
export type UploadFormat = (typeof UPLOAD_TYPES)[keyof typeof UPLOAD_TYPES];

const row = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'A row: values by column. A column `row_id`, or else `id`, gives the row its id, by which it is the same row in every version; ' +
    'without one the id is made of the content.',
});
const rows = (description: string) => optional(Type.Array(row, { description }));
export const MODES = ['replace', 'merge'] as const;
const MODE =
  '`replace`: the rows are all rows of the version. `merge`: rows with known ids are replaced, others added at the end, and all else stays.';
const MESSAGE = 'Version note.';

export const UploadInput = Type.Object(
  {
    rows: rows('The rows.'),
    data: rows('The same as `rows`, for clients that call it so.'),
    files: optional(
      Type.Array(
        Type.Object(
          {
            path: Type.String({ maxLength: 1_000, description: 'Its name, which ends in .parquet, .csv or .jsonl.' }),
            content_base64: Type.String({ description: 'Its bytes in Base64.' }),
          },
          { description: 'A file with rows.' },
        ),
        { maxItems: 1, description: 'One file with the rows, instead of `rows`.' },
      ),
    ),
    mode: optional(oneOf(MODES, `${MODE} Default: \`replace\`.`)),
    remove: optional(
      Type.Array(Type.String({ description: 'Id of a row.' }), {
        maxItems: MAX_REMOVED,
        description: 'With `merge`: ids of rows to remove.',
      }),
    ),
    message: optional(Type.String({ maxLength: MAX_MESSAGE, description: MESSAGE })),
    base_version: optional(
      Type.Integer({
        minimum: 0,
        description:
          'Number of the newest version that the client knows; if there is a newer one, nothing is stored (409).',
      }),
    ),
  },
  { $id: 'DatasetVersionInput', description: 'The rows of a new version, or how it differs from the newest one.' },
);
export type UploadInput = Static<typeof UploadInput>;

export const modeParameter = oneOf(MODES, `For files. ${MODE}`, 'replace');
export const messageParameter = Type.Optional(
  Type.String({ maxLength: MAX_MESSAGE, description: `For files. ${MESSAGE}` }),
);

export const StructuredRow = Type.Object(
  {
    row_id: Type.String({ description: 'Id of the row, the same in every version.' }),
    data: Type.Record(Type.String(), Type.Unknown(), { description: 'Values by column.' }),
    source: orNull(
      Type.Object(
        { trace_id: uuid('Its trace.'), span_id: uuid('The span.') },
        { description: 'The span that the row was made of; null: none.' },
      ),
    ),
  },
  { $id: 'DatasetRow', description: 'A row of a version.' },
);

const total = count('Number of rows on all pages.');
export const RowPage = Type.Object(
  {
    rows: Type.Array(StructuredRow, { description: 'Rows of the version, in their order.' }),
    total_rows: total,
    totalRows: Type.Integer({ minimum: 0, description: 'The same as `total_rows`, for clients that call it so.' }),
    version: VersionRead,
  },
  { $id: 'DatasetRowPage', description: 'A page of rows. It may be shorter than asked for where rows are large.' },
);

export const FlatPage = Type.Object(
  {
    rows: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      description: 'Rows of the version, in their order: values by column, with the id as `row_id`.',
    }),
    total_rows: total,
  },
  { $id: 'DatasetDataPage', description: 'A page of rows. It may be shorter than asked for where rows are large.' },
);

const content = (description: string) => orNull(Type.Record(Type.String(), Type.Unknown(), { description }));
export const DiffRead = Type.Object(
  {
    from: Type.Integer({ description: 'Number of the version compared with.' }),
    to: Type.Integer({ description: 'Number of the version compared.' }),
    added: count('Rows that only `to` has.'),
    changed: count('Rows whose content differs.'),
    removed: count('Rows that only `from` has.'),
    rows: Type.Array(
      Type.Object(
        {
          row_id: Type.String({ description: 'Id of the row.' }),
          change: oneOf(['added', 'changed', 'removed'], 'What happened to it.'),
          before: content('The row in `from`; null: not in this version, or erased.'),
          after: content('The row in `to`; null: not in this version, or erased.'),
        },
        { description: 'A row that differs.' },
      ),
      { description: 'A page of rows that differ, by id.' },
    ),
  },
  { $id: 'DatasetDiff', description: 'How two versions differ.' },
);

const versionNumber = Type.Integer({ minimum: 1, description: 'Number of the version.' });
export const DatasetTagRead = Type.Object(
  { tag: Type.String({ description: 'Name of the tag.' }), version_number: versionNumber },
  { $id: 'DatasetTag', description: 'A tag and the version that it points to.' },
);
export const DatasetPin = Type.Object(
  { version_number: versionNumber },
  { $id: 'PinDatasetTag', description: 'The version to which to point the tag.' },
);
export const DatasetTagMoveRead = Type.Object(
  {
    version_number: orNull(versionNumber),
    at: time('When it was moved.'),
    by: Type.Object(
      { id: uuid('Id of the user.'), name: Type.String({ description: 'Name of the user.' }) },
      { description: 'Who moved it.' },
    ),
  },
  { $id: 'DatasetTagMove', description: 'A move of a tag; with null as the version, its removal.' },
);

const SOURCE =
  'a field of spans, such as `input_data`; `attributes.<key>` or `tags.<key>`; or `feedback.expected_output`, what a person expected';
export const SpanRowsInput = Type.Object(
  {
    query: optional(
      Type.String({
        maxLength: 10_000,
        description:
          'Which spans to choose from: the query of `GET /spans`, such as `span_kind=llm&models=gpt-4o`. Of what it finds, the first 10,000 count.',
      }),
    ),
    span_ids: optional(
      Type.Array(uuid('Id of a span.'), { maxItems: 1_000, description: 'The spans themselves, instead of `query`.' }),
    ),
    mapping: byKey(Type.String({ minLength: 1, maxLength: 1_000, description: SOURCE }), {
      ...columnNames,
      minProperties: 1,
      maxProperties: 100,
      description: `Where columns come from, by name: ${SOURCE}.`,
    }),
    sample: optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'How many spans to take at random. Default: all.' }),
    ),
    seed: optional(Type.String({ maxLength: 200, description: 'The same seed chooses the same spans.' })),
    stratify_by: optional(
      Type.String({
        maxLength: 100,
        description: 'A field of spans, such as `model`: each of its values gets its share of the sample.',
      }),
    ),
    overwrite: optional(
      Type.Boolean({ description: 'Whether to replace rows of the same spans, with what was edited in them.' }),
    ),
    dry_run: optional(Type.Boolean({ description: 'Preview without storing.' })),
    message: optional(Type.String({ maxLength: MAX_MESSAGE, description: MESSAGE })),
  },
  { $id: 'SpanRowsInput', description: 'Which spans become rows, and how.' },
);

export const SpanRowsRead = Type.Object(
  {
    matched: count('Spans that the query finds.'),
    rows: count('Rows that were chosen.'),
    empty: count('Spans left out because every column would be empty.'),
    duplicates: count('Spans left out because another row has the same content.'),
    existing: count('Spans left out because the dataset has their rows, perhaps edited; see `overwrite`.'),
    too_large: count('Spans left out because their row would exceed the limit.'),
    preview: Type.Array(Type.Record(Type.String(), Type.Unknown()), { description: 'The first rows.' }),
    version: orNull(VersionRead),
  },
  { $id: 'SpanRows', description: 'What became of spans; `version` is null if nothing was stored.' },
);
