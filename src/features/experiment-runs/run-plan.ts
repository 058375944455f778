import type { ChatMessage, ModelRequest } from '../../engine/models/model-client.js';
import type { Role } from '../datasets/dataset.js';
import { partsOf } from '../datasets/row-parts.js';
import { fillPlaceholders, placeholdersOf } from '../optimization/placeholders.js';

/** Which rows are tried: those with these ids, or so many of the first ones; null: all. */
export type RunRows = readonly string[] | number | null;

/** All that a run depends on, as it was when it was asked for. */
export interface RunPlan {
  readonly prompt: {
    readonly id: string;
    readonly slug: string;
    readonly version: number;
    readonly content: string;
  };
  readonly model: string;
  readonly temperature: number | null;
  /** Column by variable of the prompt. */
  readonly columns: Readonly<Record<string, string>>;
  readonly roles: Readonly<Record<string, Role>>;
  readonly rows: RunRows;
  /** US dollars; null: any. */
  readonly max_cost: number | null;
}

/** What lists and reads need of a run. */
export interface RunSummary {
  /** Rows that are tried. */
  readonly rows: number;
  readonly max_cost: number | null;
}

/** Whether a row is tried, by its id and its place in the version, from 0. */
export function isTried(rows: RunRows): (rowId: string, index: number) => boolean {
  if (rows === null) return () => true;
  if (typeof rows === 'number') return (_rowId, index) => index < rows;
  const ids = new Set(rows);
  return (rowId) => ids.has(rowId);
}

/**
 * What the model is asked of a row: the filled prompt, as the user. A prompt without variables says what to do with the input of the
 * row, which the user then sends.
 * @param content JSON of the row
 */
export function requestOf({ prompt, model, temperature, columns, roles }: RunPlan, content: string): ModelRequest {
  const row = JSON.parse(content) as Readonly<Record<string, unknown>>;
  const asked = { model, temperature, schema: null };
  if (placeholdersOf(prompt.content).length === 0) {
    const messages: ChatMessage[] = [
      { role: 'system', content: prompt.content },
      { role: 'user', content: inputOf(partsOf(row, roles).input) },
    ];
    return { ...asked, messages };
  }
  const values = {
    get: (name: string) => (Object.hasOwn(columns, name) ? textOf(row[columns[name] ?? '']) : undefined),
  };
  return { ...asked, messages: [{ role: 'user', content: fillPlaceholders(prompt.content, values) }] };
}

/** A column alone is sent as it is, several as JSON. */
function inputOf(columns: Readonly<Record<string, unknown>>): string {
  const values = Object.values(columns);
  return values.length === 1 ? textOf(values[0]) : JSON.stringify(columns);
}

/** A row that lacks a column has nothing there. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
