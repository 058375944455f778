import { asContent, looksLikeJson, stringsIn } from './json-strings.js';
import { Effort } from './patterns/effort.js';
import { isDigit, type Search } from './patterns/finder.js';

/** A rule as texts are masked by it. */
export interface TextRule {
  /** Index among the rules of the project. */
  readonly rule: number;
  readonly find: Search;
  /** Whether the rule may find something, told without looking closely. */
  readonly mayFind: (text: string) => boolean;
}

/** What a rule found. */
export interface FoundValue {
  /** Index among the rules of the project. */
  readonly rule: number;
  readonly text: string;
  /** Where in the text it is. */
  readonly start: number;
  readonly end: number;
  /** What stands in its place. */
  readonly replacement: string;
}

/** Receives what rules find. */
export interface MaskingObserver {
  /** In which field values are found from now on. */
  at(field: string): void;
  found(value: FoundValue): void;
}

/** What text masking needs of the rules of a project. */
export interface TextRules {
  readonly rules: readonly TextRule[];
  /** What stands for a value. */
  readonly replacement: (rule: number, value: string) => string;
  /** Finds what stands for values, which no rule changes. */
  readonly labels: RegExp | null;
}

/** Texts that are longer are looked through in pieces of this length, between which others get their turns. */
const PIECE = 64 * 1024;
/** A piece ends with a line or a word, where there is one in this part of it. */
const END_OF_PIECE = 4 * 1024;
/** JSON in strings of JSON in strings… is read so deep: each level has twice as many backslashes. */
const MAX_NESTED = 4;
/** Texts as short as this come again and again. */
const SHORT = 64;
const MAX_KEPT = 2_000;
/** A rule that makes a text more than so much longer has the text as a whole for its value. */
const MAX_GROWTH = { factor: 2, characters: 1_024 };
/** A rule that takes longer for a piece of a text has the text as a whole for its value. */
const MAX_SEARCH_MS = 100;
/** Texts of this length together are looked through before others get a turn. */
const TURN = 4 * 1024;
/** Members of JSON that are no text, such as the image of a message. */
export const NO_TEXT: ReadonlySet<string> = new Set(['base64', 'sha256']);
/** Data of images and other files, which are no text either. */
const LEAST_BINARY = 512;
const PLUS = 0x2b;
const SLASH = 0x2f;
const BINARY = /;base64,[A-Za-z0-9+/=]*|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{512,}={0,2}/g;

interface Part {
  readonly text: string;
  /** Whether it stays as it is. */
  readonly kept: boolean;
}

/** Masks texts by the rules of a project that look for values in texts. */
export class TextMasker {
  readonly #rules: TextRules;
  readonly #observer: MaskingObserver | null;
  /** Short texts in which nothing was found. */
  readonly #harmless = new Set<string>();
  /** Length of the texts that were looked through since others got a turn. */
  #looked = 0;

  constructor(rules: TextRules, observer: MaskingObserver | null = null) {
    this.#rules = rules;
    this.#observer = observer;
  }

  /** Masks a text, also within JSON that it may be. Others get turns wherever it yields. */
  *masked(text: string, nested = 0): Generator<undefined, string, undefined> {
    if ((this.#looked += text.length + 16) > TURN) {
      this.#looked = 0;
      yield;
    }
    if (text.length <= SHORT && this.#observer === null) return this.#short(text, nested);
    if (nested < MAX_NESTED && looksLikeJson(text)) {
      const json = yield* this.#inJson(text, nested);
      if (json !== null) return json;
    }
    return yield* this.#inPieces(text);
  }

  #short(text: string, nested: number): string {
    if (this.#harmless.has(text)) return text;
    const json = nested < MAX_NESTED && looksLikeJson(text) ? finish(this.#inJson(text, nested)) : null;
    const masked = json ?? finish(this.#inPieces(text));
    if (masked !== text) return masked;
    if (this.#harmless.size >= MAX_KEPT) this.#harmless.clear();
    this.#harmless.add(text);
    return text;
  }

  /** @returns null: the text is no JSON */
  *#inJson(json: string, nested: number): Generator<undefined, string | null, undefined> {
    // What is found in a text that is no JSON after all would be told twice.
    if (this.#observer !== null && !isJson(json)) return null;
    const parts: string[] = [];
    let from = 0;
    const strings = stringsIn(json);
    for (let next = strings.next(); ; next = strings.next()) {
      if (next.done === true) {
        if (!next.value) return null;
        break;
      }
      const { start, end, text, name } = next.value;
      if (NO_TEXT.has(name)) continue;
      const masked = yield* this.masked(text, nested + 1);
      if (masked === text) continue;
      parts.push(json.slice(from, start), asContent(masked));
      from = end;
    }
    return from === 0 ? json : parts.join('') + json.slice(from);
  }

  *#inPieces(text: string): Generator<undefined, string, undefined> {
    const parts: string[] = [];
    for (let from = 0; from < text.length;) {
      const end = endOfPiece(text, from);
      const masked = yield* this.#piece(text.slice(from, end));
      if (typeof masked === 'number') return this.#rules.replacement(masked, text);
      if (end === text.length && from === 0) return masked;
      parts.push(masked);
      from = end;
      yield;
    }
    return parts.join('');
  }

  /** @returns the index of a rule that takes too long for it */
  *#piece(text: string): Generator<undefined, string | number, undefined> {
    let parts: readonly Part[] | null = null;
    for (const rule of this.#rules.rules) {
      if (!rule.mayFind(text)) continue;
      const effort = new Effort(MAX_SEARCH_MS);
      parts = yield* this.#maskedBy(rule, parts ?? this.#opened(text), effort);
      if (effort.isSpent) return rule.rule;
      if (text.length > TURN) yield;
      if (lengthOf(parts) <= text.length * MAX_GROWTH.factor + MAX_GROWTH.characters) continue;
      return this.#rules.replacement(rule.rule, text);
    }
    return parts === null ? text : parts.map((part) => part.text).join('');
  }

  /** Parts of a text; those that are no text, or labels already, stay as they are. */
  #opened(text: string): Part[] {
    const parts = parted([{ text, kept: false }], this.#rules.labels);
    return text.includes(';base64,') || hasLongWord(text) ? parted(parts, BINARY) : parts;
  }

  *#maskedBy(
    { rule, find }: TextRule,
    parts: readonly Part[],
    effort: Effort,
  ): Generator<undefined, readonly Part[], undefined> {
    let changed: Part[] | null = null;
    for (const [index, part] of parts.entries()) {
      const { text, kept } = part;
      let from = 0;
      if (!kept && !effort.isSpent) {
        const search = find(
          text,
          (start, end, value) => {
            changed ??= parts.slice(0, index);
            if (start > from) changed.push({ text: text.slice(from, start), kept: false });
            const replacement = this.#rules.replacement(rule, value);
            changed.push({ text: replacement, kept: true });
            this.#observer?.found({ rule, text, start, end, replacement });
            from = end;
          },
          effort,
        );
        if (search !== null) yield* search;
      }
      if (from < text.length) (changed as Part[] | null)?.push(from === 0 ? part : { text: text.slice(from), kept });
    }
    return changed ?? parts;
  }
}

function isJson(text: string): boolean {
  const strings = stringsIn(text);
  for (let next = strings.next(); ; next = strings.next()) if (next.done === true) return next.value;
}

function parted(parts: readonly Part[], kept: RegExp | null): Part[] {
  if (kept === null) return [...parts];
  return parts.flatMap((part) => {
    if (part.kept) return [part];
    const found: Part[] = [];
    let from = 0;
    for (const { 0: text, index } of part.text.matchAll(kept)) {
      if (index > from) found.push({ text: part.text.slice(from, index), kept: false });
      found.push({ text, kept: true });
      from = index + text.length;
    }
    if (from === 0) return [part];
    if (from < part.text.length) found.push({ text: part.text.slice(from), kept: false });
    return found;
  });
}

/** Whether a run of characters of base64 may be so long that it is data. Such a run is met at every so many characters of a text. */
function hasLongWord(text: string): boolean {
  for (let at = LEAST_BINARY - 1; at < text.length; at += LEAST_BINARY) {
    let start = at;
    let end = at;
    while (end < text.length && isBase64(text.charCodeAt(end))) end += 1;
    while (end > at && start > 0 && isBase64(text.charCodeAt(start - 1))) start -= 1;
    if (end - start >= LEAST_BINARY) return true;
    at = end;
  }
  return false;
}

function isBase64(code: number): boolean {
  const lower = code | 0x20;
  return isDigit(code) || (lower >= 0x61 && lower <= 0x7a) || code === PLUS || code === SLASH;
}

function lengthOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { text }) => sum + text.length, 0);
}

function endOfPiece(text: string, from: number): number {
  const end = from + PIECE;
  if (end >= text.length) return text.length;
  const part = text.slice(end - END_OF_PIECE, end);
  const line = part.lastIndexOf('\n');
  const word = line === -1 ? part.lastIndexOf(' ') : line;
  // Halves of a character are none.
  const whole = text.codePointAt(end - 1) === text.charCodeAt(end - 1) ? end : end - 1;
  return word === -1 ? whole : end - END_OF_PIECE + word + 1;
}

/** Does all of some work at once. */
export function finish<T>(work: Generator<undefined, T, undefined>): T {
  for (;;) {
    const next = work.next();
    if (next.done === true) return next.value;
  }
}
