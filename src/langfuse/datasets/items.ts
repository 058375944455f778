import { Type, type Static } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { optional } from '../../engine/schema/inputs.js';
import { oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { formatTimestamp, type Micros } from '../../engine/timestamp.js';
import type { Dataset, Role, RowSource } from '../../features/datasets/dataset.js';
import type { RowPut } from '../../features/datasets/row-appends.js';
import { MAX_ROW_ID } from '../../features/datasets/files/row-set.js';
import { MAX_ID, ownId, traceSpanId } from '../ids.js';
import { datasetNameInBody } from './names.js';

/*
 * An item of Langfuse is a row of a dataset, whose id it has. What clients send is in three columns; rows that were made here may
 * have any columns, which clients read by what they are for.
 */

const COLUMNS = { input: 'input', expectedOutput: 'expected_output', metadata: 'metadata' } as const;
/** What the columns of items are for. */
export const ITEM_ROLES: Record<string, Role> = { input: 'input', expected_output: 'expected', metadata: 'metadata' };
const STATUSES = ['ACTIVE', 'ARCHIVED'] as const;

const reference = (description: string) => optional(Type.String({ minLength: 1, maxLength: MAX_ID, description }));
const kept = 'If absent or null, an item that is there keeps it.';

export const CreateItem = Type.Object(
  {
    datasetName: datasetNameInBody,
    id: optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_ROW_ID,
        description: 'Id of the item. An item with this id is changed. Default: a new id.',
      }),
    ),
    input: optional(Type.Unknown({ description: `Input. ${kept}` })),
    expectedOutput: optional(Type.Unknown({ description: `Expected output. ${kept}` })),
    metadata: optional(Type.Unknown({ description: `Metadata. ${kept}` })),
    sourceTraceId: reference('Trace that the item was made of.'),
    sourceObservationId: reference('Observation of the trace that the item was made of.'),
    status: optional(oneOf(STATUSES, '`ARCHIVED` leaves the item out of the next version.')),
  },
  { $id: 'LangfuseCreateDatasetItem', description: 'An item of a dataset, as clients of Langfuse send it.' },
);
export type CreateItem = Static<typeof CreateItem>;

export const ItemRead = Type.Object(
  {
    id: Type.String({ description: 'Id of the item.' }),
    status: oneOf(STATUSES, 'Whether the newest version has the item.'),
    input: Type.Unknown({ description: 'Input.' }),
    expectedOutput: Type.Unknown({ description: 'Expected output.' }),
    metadata: Type.Unknown({ description: 'Metadata.' }),
    sourceTraceId: orNull(uuid('Trace that the item was made of.')),
    sourceObservationId: orNull(uuid('Observation that the item was made of.')),
    datasetId: uuid('Id of the dataset.'),
    datasetName: Type.String({ description: 'Name of the dataset.' }),
    mediaReferences: Type.Array(Type.Unknown(), { description: 'Always empty.' }),
    createdAt: time('When the version was made that brought what the item says.'),
    updatedAt: time('The same.'),
  },
  { $id: 'LangfuseDatasetItem', description: 'An item of a dataset, as clients of Langfuse read it.' },
);
export type ItemRead = Static<typeof ItemRead>;

type Columns = Readonly<Record<string, unknown>>;

/** The row of an item. @param noted is told what it says */
export function putOf(projectId: string, id: string, item: CreateItem, noted: (row: Columns) => void): RowPut {
  const source = sourceOf(projectId, item);
  return {
    rowId: id,
    ...(source !== null && { source }),
    change(known) {
      const said = Object.entries(COLUMNS).flatMap(([name, column]) => {
        const value = item[name as keyof typeof COLUMNS];
        return value == null && known !== null ? [] : [[column, value ?? null] as const];
      });
      if (known === null && item.status === 'ACTIVE' && said.every(([, value]) => value === null))
        throw new DomainError('not_found', 'The item is archived, or there is none: send it with its input');
      const row = { ...known, ...Object.fromEntries(said) };
      noted(row);
      return row;
    },
  };
}

/** The span that stands for a trace counts as the source where nothing else of it is named. */
export function sourceOf(
  projectId: string,
  { sourceTraceId, sourceObservationId }: Pick<CreateItem, 'sourceTraceId' | 'sourceObservationId'>,
): RowSource | null {
  if (sourceTraceId == null) return null;
  const trace_id = ownId(projectId, sourceTraceId);
  const span_id = sourceObservationId == null ? traceSpanId(trace_id) : ownId(projectId, sourceObservationId);
  return { trace_id, span_id };
}

export interface ReadRow {
  readonly id: string;
  readonly row: Columns;
  readonly source: RowSource | null;
  readonly changedAt: Micros;
  readonly status?: ItemRead['status'];
}

export function toItemRead(dataset: Dataset, { id, row, source, changedAt, status }: ReadRow): ItemRead {
  const at = formatTimestamp(changedAt);
  const standsForTrace = source !== null && source.span_id === traceSpanId(source.trace_id);
  return {
    id,
    status: status ?? 'ACTIVE',
    ...partsOfItem(row, dataset.roles),
    sourceTraceId: source?.trace_id ?? null,
    sourceObservationId: source === null || standsForTrace ? null : source.span_id,
    ...{ datasetId: dataset.id, datasetName: dataset.name, mediaReferences: [], createdAt: at, updatedAt: at },
  };
}

/** Columns that a row without roles may have beside its input. */
const BY_NAME: Readonly<Record<string, Role>> = {
  expected: 'expected',
  expected_output: 'expected',
  metadata: 'metadata',
};
const ALONE = new Set(['input', 'expected', 'expected_output', 'metadata']);

function partsOfItem(row: Columns, roles: Dataset['roles']) {
  const hasRoles = Object.keys(roles).length > 0;
  const roleOf = (column: string): Role | undefined =>
    roles[column] ?? (hasRoles ? undefined : (BY_NAME[column] ?? 'input'));
  const of = (role: Role) => {
    const columns = Object.entries(row).filter(([column]) => roleOf(column) === role);
    const [first] = columns;
    if (first === undefined) return null;
    return columns.length === 1 && ALONE.has(first[0]) ? first[1] : Object.fromEntries(columns);
  };
  return { input: of('input'), expectedOutput: of('expected'), metadata: of('metadata') };
}
