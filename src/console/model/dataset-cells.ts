import type { RowData } from './dataset-draft.js';

/** Characters that a cell of one line shows at most. */
const LONGEST = 200;
/** Characters that a tooltip shows at most. */
const BEGINNING = 600;

/** The value of a column; undefined: the row has none. */
export function valueIn(data: RowData, column: string): unknown {
  return Object.hasOwn(data, column) ? data[column] : undefined;
}

/** A value in full: texts as they are, all else as JSON. */
export function textOf(value: unknown, indent = 0): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, indent);
}

const beginnings = new WeakMap<object, string>();

/** How a value begins. Large ones are written once, however often they are shown. */
export function beginningOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return textOf(value).slice(0, BEGINNING);
  const known = beginnings.get(value) ?? textOf(value).slice(0, BEGINNING);
  beginnings.set(value, known);
  return known;
}

/** A value in one line, which may be cut. */
export function cellText(value: unknown): string {
  const text = beginningOf(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** A value as it is edited: a text, JSON, or none. */
export interface EditedCell {
  readonly column: string;
  readonly kind: 'text' | 'json' | 'none';
  readonly text: string;
}

export function editedCell(data: RowData, column: string): EditedCell {
  const value = valueIn(data, column);
  const kind = value === undefined ? 'none' : typeof value === 'string' ? 'text' : 'json';
  return { column, kind, text: textOf(value, 2) };
}

/** What is wrong with an edited value; null: nothing. */
export function mistakeIn({ kind, text }: EditedCell): string | null {
  if (kind !== 'json') return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `Not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The row that edited values make, in which none is mistaken. */
export function rowOf(cells: readonly EditedCell[]): RowData {
  const values = cells
    .filter(({ kind }) => kind !== 'none')
    .map(({ column, kind, text }) => [column, kind === 'json' ? (JSON.parse(text) as unknown) : text] as const);
  return Object.fromEntries(values);
}

/** The columns in which two rows differ. */
export function differingColumns(before: RowData, after: RowData): string[] {
  const columns = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const json = (row: RowData, column: string) => JSON.stringify(valueIn(row, column));
  return columns.filter((column) => json(before, column) !== json(after, column));
}
