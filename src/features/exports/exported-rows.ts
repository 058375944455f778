import type { TObject, TSchema } from '@sinclair/typebox';
import type { FieldType } from '../../engine/traces/model/list/fields.js';

/** A column by its name, and the type of its values. */
export type ExportedColumn = readonly [name: string, type: FieldType];

/** All that an export has. */
export interface ExportedRows {
  readonly columns: readonly ExportedColumn[];
  /** Rows as JSON objects in pages of a few megabytes, each read from where the one before ended. @throws DomainError */
  pages(signal: AbortSignal): AsyncGenerator<readonly string[]>;
}

/** Bytes that a page is to have. */
export const PAGE_BYTES = 2 * 1024 * 1024;

/** How many rows the next page is to have, by those of the one before. */
export function fittingRows(found: number, bytes: number, most: number): number {
  return Math.max(1, Math.min(most, Math.round((found * PAGE_BYTES) / Math.max(1, bytes))));
}

/** Columns of answered objects, by their schema: times, numbers and booleans as such, all else as texts. */
export function columnsOf({ properties }: TObject): ExportedColumn[] {
  return Object.entries(properties).map(([name, schema]) => [name, typeOf(schema)]);
}

function typeOf(schema: TSchema): FieldType {
  const { anyOf } = schema as { readonly anyOf?: readonly TSchema[] };
  const [only, ...others] = (anyOf ?? [schema]).filter((each) => each['type'] !== 'null');
  if (only === undefined || others.length > 0) return 'text';
  switch (only['type']) {
    case 'number':
      return 'number';
    case 'integer':
      return 'integer';
    case 'boolean':
      return 'boolean';
    default:
      return only['format'] === 'date-time' ? 'time' : 'text';
  }
}
