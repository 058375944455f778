import { stringify } from 'csv-stringify/sync';

/** Lines of CSV: texts as they are, nothing where there is no value, and other values as JSON. */
export function csvLines(rows: readonly (readonly unknown[])[]): string {
  return stringify(rows.map((row) => row.map(cell)));
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
