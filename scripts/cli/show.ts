import { styleText } from 'node:util';
import {
  cellText,
  fieldsOf,
  printable,
  printableLines,
  tableOf,
  type Paint,
  type Row,
  type TableLook,
} from '../output.js';

/** Columns that a table of rows begins with, as far as the rows have them; those of people's interest first. */
const FIRST = [
  ...['id', 'slug', 'name', 'row_id', 'kind', 'entity_type', 'entity_id', 'version', 'version_number', 'tag', 'value'],
  ...['status', 'verdict', 'outcome', 'started_at', 'created_at', 'duration_ms', 'duration', 'cost', 'model', 'count'],
  ...['span_count', 'trace_count', 'error_count', 'error_code', 'has_error', 'input_tokens', 'output_tokens'],
  ...['source', 'latest_version', 'version_count', 'message', 'row_count', 'reason'],
];
/** What says nothing to people: the project is that of the key. */
const LEFT_OUT = new Set(['project_id', 'user_id', 'prompt_id', 'task_id', 'totalRows', 'content_hash']);
const MOST_COLUMNS = 12;
const LONGEST_CELL = 60;
/** A longer text of an object is shown below its fields. */
const LONGEST_FIELD = 100;

/** The fields to ask for, of those that there are, where rows are to be shown as a table. */
export function shownFields(known: readonly string[]): string[] {
  const lesser = new Set(['has_error', 'input_tokens', 'output_tokens', 'created_at']);
  return FIRST.filter((name) => known.includes(name) && !lesser.has(name)).slice(0, MOST_COLUMNS);
}

/** Rows as a table. @param chosen its columns; default: those that say most */
export function rowsText(rows: readonly Row[], chosen?: readonly string[]): string {
  const shown = chosen === undefined ? rows.map((row): Row => Object.fromEntries(flattened(row, ''))) : rows;
  const names = chosen ?? columnsOf(shown);
  return tableOf(
    shown.map((row) => Object.fromEntries(names.map((name) => [name, row[name]]))),
    look(),
  );
}

/** An object: its fields, its long texts, and tables of what it has lists of. */
export function objectText(object: Row): string {
  const flat = Object.fromEntries(flattened(object, ''));
  const isLong = (value: unknown) =>
    typeof value === 'string' && (value.length > LONGEST_FIELD || value.includes('\n'));
  const isTable = (value: unknown): value is readonly Row[] =>
    Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'object' && item !== null);
  const fields = Object.entries(flat).filter(
    ([name, value]) => !isLong(value) && !isTable(value) && !LEFT_OUT.has(name),
  );
  const parts = [fieldsOf(Object.fromEntries(fields))];
  for (const [name, value] of Object.entries(flat)) {
    if (isTable(value)) parts.push(`${heading(name)}\n${rowsText(value)}`);
    else if (isLong(value)) parts.push(`${heading(name)}\n${printableLines(value as string)}\n`);
  }
  return parts.filter((part) => part !== '').join('\n');
}

/** A row in a line, for rows that come one by one. */
export function lineText(row: Row): string {
  const cells = ['started_at', 'kind', 'name', 'status', 'duration_ms', 'error_code', 'id'].map((name) => row[name]);
  const text = cells.filter((cell) => cell !== null && cell !== undefined).map(cellText);
  return `${text.join('  ')}\n`;
}

function columnsOf(rows: readonly Row[]): string[] {
  const isPlain = (value: unknown) => typeof value !== 'object' || value === null;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter(
    (name) => !LEFT_OUT.has(name) && rows.every((row) => isPlain(row[name])) && rows.some((row) => row[name] != null),
  );
  const first = FIRST.filter((name) => names.includes(name));
  return [...first, ...names.filter((name) => !first.includes(name))].slice(0, MOST_COLUMNS);
}

/** Objects within, as fields with a dot in their names. */
function flattened(object: Row, before: string): [string, unknown][] {
  return Object.entries(object).flatMap(([key, value]): [string, unknown][] => {
    const name = `${before}${key}`;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !('toJSON' in value);
    if (isObject && Object.keys(value).length > 0) return flattened(value as Row, `${name}.`);
    return [[name, isObject ? null : value]];
  });
}

function look(): TableLook {
  const { columns } = process.stdout;
  return { cellWidth: LONGEST_CELL, paint, ...(process.stdout.isTTY && columns > 0 && { width: columns }) };
}

const FAILED: Readonly<Record<string, unknown>> = { status: 'error', has_error: true, verdict: 'failed' };

/** Colors, where standard output is a terminal and NO_COLOR is not set. */
const paint: Paint = (text, name, row) => {
  if (row === null) return styled('bold', text);
  return name in FAILED && row[name] === FAILED[name] ? styled('red', text) : text;
};

function heading(name: string): string {
  return styled('bold', printable(name.toUpperCase()));
}

function styled(format: 'bold' | 'red', text: string): string {
  return styleText(format, text, { stream: process.stdout });
}
