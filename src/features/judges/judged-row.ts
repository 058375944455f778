import { excerptOf } from '../../engine/excerpt.js';
import { shownText } from '../../engine/json-text.js';
import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';

/** The row of a dataset that a result is of, as an instruction may show it. */
export interface JudgedRow {
  /** Columns with what should come out. */
  readonly expected: Readonly<Record<string, unknown>>;
  /** All columns. */
  readonly columns: Readonly<Record<string, unknown>>;
}

/** Finds the rows of results. @throws DomainError `unavailable` */
export interface JudgedRows {
  /** Names the row of a result, in all experiments of its dataset. Null: the span is no result. */
  keyOf(projectId: string, span: Pick<JudgedSpan, 'experiment_id' | 'row_id'>): string | null;
  /** Null: the span is no result, or its row is gone. */
  rowOf(projectId: string, span: Pick<JudgedSpan, 'experiment_id' | 'row_id'>): JudgedRow | null;
}

/** Longest text of a row that is filled in, in characters; the middle of a longer one is left out, which the text says. */
const MAX_TEXT = 100_000;
const COLUMN = /\{\{\s*row\.([^{}\r\n]{1,200}?)\s*\}\}/g;
const OF_ROW = /\{\{\s*(?:expected|row\.[^{}\r\n]{1,200}?)\s*\}\}/;

/** Whether an instruction shows anything of rows, so that others need not be read. */
export function showsRow(instruction: string): boolean {
  return OF_ROW.test(instruction);
}

/** The columns that an instruction shows, each once. */
export function columnsShown(instruction: string): string[] {
  return [...new Set(Array.from(instruction.matchAll(COLUMN), ([, name = '']) => name))];
}

/** One column of those that should come out as it is, several as JSON. */
export function expectedText({ expected }: JudgedRow): string {
  const values = Object.values(expected);
  return valueText(values.length === 1 ? values[0] : values.length === 0 ? undefined : expected);
}

export function columnText(row: JudgedRow | null, name: string): string {
  return row !== null && Object.hasOwn(row.columns, name) ? valueText(row.columns[name]) : '';
}

function valueText(value: unknown): string {
  return excerptOf(shownText(value), MAX_TEXT) ?? '';
}
