import { isColumn, MAX_COLUMNS, scoreOf, tagOf } from '../../engine/traces/model/list/columns.js';
import { splitValues } from '../../engine/traces/model/list/comma-values.js';
import type { ListDefinition } from '../../engine/traces/model/list/definitions.js';
import type { FieldType } from '../../engine/traces/model/list/fields.js';
import type { ScoreValue } from '../../engine/traces/model/score/score.js';
import { fieldLabel, type ListName } from './list-query.js';
import type { Side } from './payload-line.js';

/** The value of a field; undefined: it was not asked for. */
export type Value = string | number | boolean | null | undefined | Readonly<Record<string, unknown>>;

/** A row as a list answers it. */
export type ListRow = Readonly<Record<string, Value>> & { readonly id: string };

/**
 * What is shown before somebody chooses, where the list has it: what was asked and answered, for whom, and how it went. The
 * first column leads to the object.
 */
const SHOWN: Readonly<Record<ListName, readonly string[]>> = {
  spans: ['name', 'model', 'input_data', 'output_data', 'status', 'tags.user', 'started_at', 'duration_ms', 'cost'],
  traces: ['name', 'root_span_input', 'root_span_output', 'tags.user', 'status', 'started_at', 'duration_ms', 'cost'],
  sessions: ['name', 'started_at', 'duration', 'cost', 'trace_count', 'error_count', 'input_tokens', 'output_tokens'],
};

/** What rows are shown, opened and deleted by, whatever columns there are. */
const NEEDED: Readonly<Record<ListName, readonly string[]>> = {
  spans: [
    'id',
    'trace_id',
    'name',
    'kind',
    'has_error',
    'error_code',
    'error_message',
    'started_at',
    'ended_at',
    'duration_ms',
  ],
  traces: ['id', 'name', 'has_error', 'root_span_error', 'started_at', 'ended_at', 'duration_ms', 'span_count'],
  sessions: ['id', 'name', 'has_error', 'started_at', 'created_at', 'trace_count'],
};

const WIDTHS: Readonly<Record<FieldType, number>> = {
  id: 120,
  text: 160,
  kind: 120,
  status: 112,
  time: 144,
  number: 92,
  money: 92,
  integer: 88,
  boolean: 88,
  tags: 240,
  json: 240,
};

/** So narrow that a screen of 1440 pixels has room for inputs and outputs beside them. */
const WIDTHS_OF_COLUMNS: Readonly<Record<string, number>> = { name: 152, model: 128, 'tags.user': 112 };

/** Inputs and outputs, which say the more the wider they are. */
const PAYLOADS: ReadonlyMap<string, Side> = new Map([
  ['input_data', 'input'],
  ['output_data', 'output'],
  ['root_span_input', 'input'],
  ['root_span_output', 'output'],
]);

const SCORE_WIDTH = 112;

export const NARROWEST = 56;
export const WIDEST = 1200;

/** The columns that a text names, separated by commas; where it names none, those shown by default. */
export function columnsOf(list: ListDefinition, text: string | null): string[] {
  const named = splitValues(text ?? '').filter((column) => isColumn(list, column));
  const unique = [...new Set(named)].slice(0, MAX_COLUMNS);
  return unique.length > 0 ? unique : SHOWN[list.name].filter((column) => isColumn(list, column));
}

export function defaultWidth(list: ListDefinition, column: string): number {
  const type = tagOf(column) === null ? list.fields[column]?.type : undefined;
  if (scoreOf(column) !== null) return SCORE_WIDTH;
  // A head is never narrower than its label.
  const usual = WIDTHS_OF_COLUMNS[column] ?? (type === undefined ? 160 : WIDTHS[type]);
  return type === undefined ? usual : Math.max(usual, 28 + 8 * fieldLabel(column).length);
}

/** Whether a column shows an input or an output; null: neither. */
export function sideOf(column: string): Side | null {
  return PAYLOADS.get(column) ?? null;
}

/**
 * The columns that share what the others leave: inputs and outputs, else the first text, of those that nobody resized.
 * Nothing else is worth more width.
 */
export function flexibleOf(
  list: ListDefinition,
  columns: readonly string[],
  widths: ReadonlyMap<string, number>,
): readonly string[] {
  const free = columns.filter((column) => !widths.has(column));
  const payloads = free.filter((column) => PAYLOADS.has(column));
  if (payloads.length > 0) return payloads;
  return [free.find((column) => list.fields[column]?.type === 'text') ?? columns.at(-1) ?? ''];
}

export function clampWidth(width: number): number {
  return Math.round(Math.max(NARROWEST, Math.min(WIDEST, width)));
}

/** The fields to ask for, so that nothing large comes that no column shows. */
export function fieldsFor(list: ListDefinition, columns: readonly string[]): string[] {
  const wanted = new Set([
    ...NEEDED[list.name],
    ...columns.map((column) => (tagOf(column) === null ? column : 'tags')),
  ]);
  const fields = Object.keys(list.fields).filter((name) => wanted.has(name));
  return columns.some((column) => scoreOf(column) !== null) ? [...fields, 'scores'] : fields;
}

export function valueOf(row: ListRow, column: string): Value {
  const [tag, score] = [tagOf(column), scoreOf(column)];
  if (tag === null && score === null) return row[column];
  const values = row[tag === null ? 'scores' : 'tags'] as Readonly<Record<string, ScoreValue>> | undefined;
  const key = tag ?? score ?? '';
  return values !== undefined && Object.hasOwn(values, key) ? values[key] : null;
}

/** Moves a column by so many places. */
export function moved(columns: readonly string[], column: string, by: number): string[] {
  const [from, rest] = [columns.indexOf(column), columns.filter((other) => other !== column)];
  return from < 0 ? [...columns] : rest.toSpliced(Math.max(0, Math.min(rest.length, from + by)), 0, column);
}

/** How wide columns are that somebody resized, as kept in the browser: `name:320,cost:80`. */
export function widthsOf(text: string): Map<string, number> {
  const pairs = text.split(',').flatMap((pair) => {
    const [, column = '', width = ''] = /^(.+):(\d+)$/.exec(pair) ?? [];
    return column === '' ? [] : [[decodeURIComponent(column), clampWidth(Number(width))] as const];
  });
  return new Map(pairs);
}

export function writeWidths(widths: ReadonlyMap<string, number>): string {
  return [...widths].map(([column, width]) => `${encodeURIComponent(column)}:${width}`).join(',');
}
