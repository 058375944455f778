import { shownText } from '../../engine/json-text.js';
import type { ChatMessage, ModelRequest } from '../../engine/models/model-client.js';
import type { Role } from '../datasets/dataset.js';
import { partsOf } from '../datasets/row-parts.js';
import { fillPlaceholders, piecesOf, placeholdersOf } from '../optimization/placeholders.js';
import { MAX_BODY_BYTES } from '../playground/schema.js';

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
 * What the model is asked of rows: the filled prompt, as the user. A prompt without variables says what to do with the input of the
 * row, which the user then sends.
 */
export class RowRequests {
  readonly #plan: RunPlan;
  /** How often each variable stands in the prompt. */
  readonly #counts = new Map<string, number>();
  readonly #literalBytes: number;

  constructor(plan: RunPlan) {
    this.#plan = plan;
    const pieces = piecesOf(plan.prompt.content);
    this.#literalBytes = Buffer.byteLength(pieces.filter((_piece, index) => index % 2 === 0).join(''));
    for (const [index, piece] of pieces.entries()) {
      if (index % 2 === 0) continue;
      const name = placeholdersOf(piece)[0] ?? '';
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    }
  }

  /** @param content JSON of the row @returns null: it has more than {@link MAX_BODY_BYTES}, and is not filled in */
  of(content: string): ModelRequest | null {
    const { prompt, model, temperature, columns, roles } = this.#plan;
    const row = JSON.parse(content) as Readonly<Record<string, unknown>>;
    const asked = { model, temperature, schema: null };
    if (this.#counts.size === 0) {
      const input = inputOf(partsOf(row, roles).input);
      if (this.#literalBytes + Buffer.byteLength(input) > MAX_BODY_BYTES) return null;
      const messages: ChatMessage[] = [
        { role: 'system', content: prompt.content },
        { role: 'user', content: input },
      ];
      return { ...asked, messages };
    }
    // A row that lacks a column has nothing there.
    const values = new Map<string, string>();
    let bytes = this.#literalBytes;
    for (const [name, count] of this.#counts) {
      const text = Object.hasOwn(columns, name) ? shownText(row[columns[name] ?? '']) : `{{${name}}}`;
      values.set(name, text);
      bytes += Buffer.byteLength(text) * count;
    }
    if (bytes > MAX_BODY_BYTES) return null;
    return { ...asked, messages: [{ role: 'user', content: fillPlaceholders(prompt.content, values) }] };
  }
}

/** A column alone is sent as it is, several as JSON. */
function inputOf(columns: Readonly<Record<string, unknown>>): string {
  const values = Object.values(columns);
  return values.length === 1 ? shownText(values[0]) : JSON.stringify(columns);
}
