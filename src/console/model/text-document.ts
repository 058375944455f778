import { readConversation, type PartPurpose } from '../../features/review/conversation.js';
import { parseExactly } from './exact-json.js';
import { JsonRows, type JsonRow } from './json-rows.js';

/** Characters of a text that are shown before a reader asks for more. */
export const FOLDED_FROM = 20_000;
/** Of a folded text, what is shown of it. */
const SHOWN_FOLDED = 1_000;

/** A text of a document: its beginning, and how long it is. The rest is asked for by its name. */
export interface ShownText {
  readonly name: string;
  readonly length: number;
  readonly head: string;
}

export interface ShownPart {
  readonly kind: 'text' | 'data';
  readonly label: string | null;
  readonly purpose: PartPurpose | null;
  readonly text: ShownText;
  /** Of a call: what came back, where the conversation has it. */
  readonly result: ShownText | null;
}

export interface ShownMessage {
  readonly role: string;
  readonly parts: readonly ShownPart[];
  /** Which of the texts it stands in: `input` or `output`. */
  readonly of: string;
}

export interface JsonWindow {
  readonly count: number;
  readonly rows: readonly JsonRow[];
}

/** What a row of a JSON tree is: where it stands, and what it holds. */
export interface JsonValue {
  readonly path: string;
  readonly text: ShownText;
}

/**
 * Texts that may be too large for the thread that draws: they are read where the document is, which may be a worker, and only
 * what is shown comes out. Every method takes and answers what can be sent between threads.
 */
export class TextDocument {
  readonly #texts = new Map<string, string>();
  readonly #json = new Map<string, JsonRows | null>();
  #made = 0;

  /** @param texts by name; what is no text is taken as JSON */
  constructor(texts: Readonly<Record<string, unknown>>) {
    for (const [name, value] of Object.entries(texts)) {
      if (typeof value === 'string') this.#texts.set(name, value);
      else if (value !== null && value !== undefined) this.#json.set(name, new JsonRows(value));
    }
  }

  /** The document of the first object in an answer of the API, with the whole of the answer as `raw`. */
  static ofAnswer(bytes: ArrayBuffer): TextDocument {
    const raw = new TextDecoder().decode(bytes);
    const answer = JSON.parse(raw) as Record<string, unknown> | readonly Record<string, unknown>[];
    const [first = {}] = Array.isArray(answer) ? (answer as readonly Record<string, unknown>[]) : [answer];
    return new TextDocument({ ...(first as Record<string, unknown>), raw });
  }

  /** Whether images may have come with the span that was answered, told without looking for them. */
  mayHaveImages(): boolean {
    return /"attachments|"sha256|@@@langfuseMedia:/.test(this.#texts.get('raw') ?? '');
  }

  /** Null: there is no such text. */
  text(name: string): ShownText | null {
    const text = this.#texts.get(name);
    return text === undefined ? null : shown(name, text);
  }

  slice(name: string, from: number, to: number): string {
    return this.#texts.get(name)?.slice(from, to) ?? '';
  }

  /** The messages in the texts of these names, calls joined with their results. */
  conversation(names: readonly string[]): ShownMessage[] {
    const messages = names.flatMap((name) => this.#messagesOf(name));
    return joined(messages);
  }

  #messagesOf(name: string): ReadMessage[] {
    const text = this.#texts.get(name);
    if (text === undefined || text === '') return [];
    const read = readConversation(text);
    if (read.kind !== 'messages') {
      const said = read.text === text ? shown(name, text) : this.#keep(read.text);
      const label = read.kind === 'data' ? 'JSON' : null;
      return [{ role: '', of: name, parts: [{ kind: read.kind, label, purpose: null, callId: null, text: said }] }];
    }
    return read.messages.map(({ role, parts }) => ({
      role,
      of: name,
      parts: parts.map(({ kind, label, text: said, purpose = null, callId = null }) => ({
        kind,
        label,
        purpose,
        callId,
        text: this.#keep(said),
      })),
    }));
  }

  /** @returns false: the text is no JSON that can be shown as a tree */
  json(name: string): boolean {
    return this.#rowsOf(name) !== null;
  }

  jsonRows(name: string, from: number, to: number): JsonWindow {
    const rows = this.#rowsOf(name);
    return rows === null ? { count: 0, rows: [] } : { count: rows.count, rows: rows.rows(from, to) };
  }

  toggle(name: string, row: number): void {
    this.#rowsOf(name)?.toggle(row);
  }

  parent(name: string, row: number): number {
    return this.#rowsOf(name)?.parent(row) ?? -1;
  }

  jsonValue(name: string, row: number): JsonValue {
    const rows = this.#rowsOf(name);
    const value = `${name} row`;
    this.#texts.set(value, rows?.value(row) ?? '');
    return { path: rows?.path(row) ?? '', text: shown(value, this.#texts.get(value) ?? '') };
  }

  #rowsOf(name: string): JsonRows | null {
    const known = this.#json.get(name);
    if (known !== undefined) return known;
    const rows = readJson(this.#texts.get(name) ?? '');
    this.#json.set(name, rows);
    return rows;
  }

  #keep(text: string): ShownText {
    if (text.length <= FOLDED_FROM) return shown('', text);
    const name = `part ${(this.#made += 1)}`;
    this.#texts.set(name, text);
    return shown(name, text);
  }
}

interface ReadPart extends Omit<ShownPart, 'result'> {
  readonly callId: string | null;
}

interface ReadMessage extends Omit<ShownMessage, 'parts'> {
  readonly parts: readonly ReadPart[];
}

/** Results stand with their calls; a message of nothing else is left out. */
function joined(messages: readonly ReadMessage[]): ShownMessage[] {
  const results = new Map<string, ReadPart>();
  const called = new Set<string>();
  for (const { parts } of messages)
    for (const part of parts) {
      if (part.callId === null) continue;
      if (part.purpose === 'call') called.add(part.callId);
      else if (part.purpose === 'result' && called.has(part.callId) && !results.has(part.callId))
        results.set(part.callId, part);
    }
  const taken = new Set(results.values());
  return messages.flatMap(({ parts, ...message }) => {
    const left = parts.filter((part) => !taken.has(part));
    if (left.length === 0 && parts.length > 0) return [];
    const shownParts = left.map(({ callId, ...part }) => ({
      ...part,
      result: part.purpose === 'call' && callId !== null ? (results.get(callId)?.text ?? null) : null,
    }));
    return [{ ...message, parts: shownParts }];
  });
}

function shown(name: string, text: string): ShownText {
  return { name, length: text.length, head: text.length <= FOLDED_FROM ? text : text.slice(0, SHOWN_FOLDED) };
}

/** Objects and lists, also those that some write into a JSON string. */
function readJson(text: string): JsonRows | null {
  if (!/^\s*[[{"]/.test(text)) return null;
  try {
    const value = parseExactly(text);
    return typeof value === 'string' ? readJson(value) : new JsonRows(value);
  } catch {
    return null;
  }
}
