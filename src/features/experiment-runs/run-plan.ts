import { shownText } from '../../engine/json-text.js';
import { chatRole } from '../../engine/models/chat-role.js';
import type { ChatMessage, ModelRequest } from '../../engine/models/model-client.js';
import type { Role } from '../datasets/dataset.js';
import { partsOf } from '../datasets/row-parts.js';
import { fillPlaceholders, piecesOf, placeholdersOf } from '../optimization/placeholders.js';
import { messagesIn } from '../optimization/replay.js';
import { MAX_BODY_BYTES } from '../playground/schema.js';
import { placesIn, textWithVariables } from '../prompts/prompt-messages.js';
import type { PromptMessage } from '../prompts/schema.js';

/** Which rows are tried: those with these ids, or so many of the first ones; null: all. */
export type RunRows = readonly string[] | number | null;

/** All that a run depends on, as it was when it was asked for. */
export interface RunPlan {
  readonly prompt: {
    readonly id: string;
    readonly slug: string;
    readonly version: number;
    /** Of a chat version, empty. */
    readonly content: string;
    /** Of a chat version; null, or absent in runs from before there were any: it is a text. */
    readonly messages?: readonly PromptMessage[] | null;
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
 * What the model is asked of rows: the filled messages, or the filled text, as the user. A prompt without variables says what to do with
 * the input of the row, which the user then sends.
 */
export class RowRequests {
  readonly #plan: RunPlan;
  readonly #messages: readonly PromptMessage[];
  /** How often each variable stands in the prompt. */
  readonly #counts = new Map<string, number>();
  readonly #literalBytes: number;
  /** Whether there is nothing to fill in. */
  readonly #isFixed: boolean;

  constructor(plan: RunPlan) {
    this.#plan = plan;
    const { content, messages = null } = plan.prompt;
    const pieces = piecesOf(textWithVariables({ content, messages }));
    this.#literalBytes = Buffer.byteLength(pieces.filter((_piece, index) => index % 2 === 0).join(''));
    for (const [index, piece] of pieces.entries()) {
      if (index % 2 === 0) continue;
      const name = placeholdersOf(piece)[0] ?? '';
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    }
    this.#isFixed = this.#counts.size === 0 && placesIn(messages ?? []).length === 0;
    this.#messages = messages ?? [{ role: this.#isFixed ? 'system' : 'user', content }];
  }

  /** @param content JSON of the row @returns null: it has more than {@link MAX_BODY_BYTES}, and is not filled in */
  of(content: string): ModelRequest | null {
    const { model, temperature, columns, roles } = this.#plan;
    const row = JSON.parse(content) as Readonly<Record<string, unknown>>;
    const shown = new ShownColumns(row);
    const columnOf = (name: string) => (Object.hasOwn(columns, name) ? columns[name] : undefined);
    // A row that lacks a column has nothing there.
    const values = new Map<string, string>();
    let bytes = this.#literalBytes;
    for (const [name, count] of this.#counts) {
      const { text, bytes: size } = shown.of(columnOf(name)) ?? literal(`{{${name}}}`);
      values.set(name, text);
      bytes += size * count;
      if (bytes > MAX_BODY_BYTES) return null;
    }
    for (const message of this.#messages) {
      if ('name' in message) bytes += shown.of(columnOf(message.name))?.bytes ?? 0;
      if (bytes > MAX_BODY_BYTES) return null;
    }
    const input = this.#isFixed ? inputOf(partsOf(row, roles).input) : null;
    if (bytes + Buffer.byteLength(input ?? '') > MAX_BODY_BYTES) return null;
    const messages = this.#messages.flatMap((message): readonly ChatMessage[] =>
      'name' in message
        ? shown.messagesOf(columnOf(message.name))
        : [{ role: chatRole(message.role) ?? 'user', content: fillPlaceholders(message.content, values) }],
    );
    if (input !== null || messages.length === 0) messages.push({ role: 'user', content: input ?? '' });
    return { model, temperature, schema: null, messages };
  }
}

interface Shown {
  readonly text: string;
  readonly bytes: number;
}

const literal = (text: string): Shown => ({ text, bytes: Buffer.byteLength(text) });

/** The columns of a row as a model is shown them. Each is written once, however many places it has. */
class ShownColumns {
  readonly #row: Readonly<Record<string, unknown>>;
  readonly #texts = new Map<string, Shown>();
  readonly #messages = new Map<string, readonly ChatMessage[]>();

  constructor(row: Readonly<Record<string, unknown>>) {
    this.#row = row;
  }

  /** Undefined: of no column. */
  of(column: string | undefined): Shown | undefined {
    if (column === undefined) return undefined;
    const known = this.#texts.get(column) ?? literal(shownText(this.#row[column]));
    this.#texts.set(column, known);
    return known;
  }

  messagesOf(column: string | undefined): readonly ChatMessage[] {
    if (column === undefined) return [];
    const known = this.#messages.get(column) ?? messagesOf(this.#row[column]);
    this.#messages.set(column, known);
    return known;
  }
}

/** What a row has for a place of messages: a list of them, or a text that the user says. */
function messagesOf(value: unknown): ChatMessage[] {
  const isNothing =
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
  return isNothing ? [] : messagesIn(shownText(value));
}

/** A column alone is sent as it is, several as JSON. */
function inputOf(columns: Readonly<Record<string, unknown>>): string {
  const values = Object.values(columns);
  return values.length === 1 ? shownText(values[0]) : JSON.stringify(columns);
}
