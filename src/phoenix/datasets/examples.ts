import { Type, type Static } from '@sinclair/typebox';
import { time } from '../../engine/schema/parts.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import { asObject } from '../../facade/json.js';
import type { Dataset, DatasetVersion, Role } from '../../features/datasets/dataset.js';
import { partsOf } from '../../features/datasets/row-parts.js';

/*
 * An example of Phoenix is a row of a dataset. What clients send as objects is in the columns below; rows of a table, and rows that were
 * made here, have columns of their own, which clients read by what they are for.
 */

/** Columns of objects, and what they are for. */
export const ROLES = {
  input: 'input',
  output: 'expected',
  metadata: 'metadata',
  splits: 'split',
} as const satisfies Record<string, Role>;
/** The span that a row was made of, as the client said. */
export const SPAN_COLUMN = 'span_id';

type Columns = Readonly<Record<string, unknown>>;

const object = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
export const ExampleRead = Type.Object(
  {
    id: Type.String({ description: 'Id of the row.' }),
    node_id: Type.String({ description: 'The same, as clients name it in runs.' }),
    input: object('What goes in.'),
    output: object('What should come out.'),
    metadata: object('Metadata.'),
    updated_at: time('When the version was made.'),
    source: Type.Optional(
      Type.Object(
        {
          span_id: Type.String({ description: 'Id of the span.' }),
          span_node_id: Type.String({ description: 'The same.' }),
        },
        { description: 'The span that the example was made of; absent: none was named.' },
      ),
    ),
  },
  { $id: 'PhoenixExample', description: 'A row of a dataset, as clients of Phoenix read it.' },
);
export type ExampleRead = Static<typeof ExampleRead>;

/** Where a row is. */
export interface RowOf {
  readonly dataset: Pick<Dataset, 'roles'>;
  readonly version: Pick<DatasetVersion, 'created_at'>;
}

export function toExample(
  { dataset: { roles }, version }: RowOf,
  { row_id, content }: { readonly row_id: string; readonly content: string },
): ExampleRead {
  const row = JSON.parse(content) as Columns;
  const { input, expected } = partsOf(row, roles);
  const metadata = Object.fromEntries(Object.entries(row).filter(([column]) => roles[column] === 'metadata'));
  const span = row[SPAN_COLUMN];
  return {
    ...{ id: row_id, node_id: nodeId(row_id) },
    ...{ input: unwrapped(input, 'input'), output: unwrapped(expected, 'output') },
    ...{ metadata: unwrapped(metadata, 'metadata'), updated_at: formatTimestamp(version.created_at) },
    ...(typeof span === 'string' && { source: { span_id: span, span_node_id: span } }),
  };
}

/** What is in a column of objects, where there is no other. */
function unwrapped(columns: Columns, column: keyof typeof ROLES): Record<string, unknown> {
  const [first, ...others] = Object.keys(columns);
  const inside = first === column && others.length === 0 ? asObject(columns[column]) : undefined;
  return { ...(inside ?? columns) };
}

/** The splits that a row is in. */
export function splitsOf(content: string, { roles }: Pick<Dataset, 'roles'>): string[] {
  const row = JSON.parse(content) as Columns;
  return Object.entries(row).flatMap(([column, value]) =>
    roles[column] === 'split' ? [value].flat().filter((split): split is string => typeof split === 'string') : [],
  );
}

const NODE = 'DatasetExample:';

/**
 * How runs name a row. It differs from the id of the row: so clients that upload examples again which they have read send the ids of
 * the rows along, and rows stay what they are.
 */
export function nodeId(rowId: string): string {
  return Buffer.from(`${NODE}${rowId}`).toString('base64');
}

/** The id of a row by either. */
export function rowIdOf(named: string): string {
  const decoded = Buffer.from(named, 'base64').toString();
  return decoded.startsWith(NODE) ? decoded.slice(NODE.length) : named;
}
