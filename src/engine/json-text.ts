import { DomainError } from './errors.js';

/**
 * JSON that is nested deeper is not read, be it a body or a text within one: it has no use here, and would overflow the
 * stack of whatever walks it later.
 */
export const MAX_JSON_DEPTH = 200;

/** Most values that JSON may hold. An empty object is three bytes in a body and some sixty in memory. */
export const MAX_JSON_VALUES = 2_000_000;

/**
 * Most different names that the members of all objects of a JSON text may have. Each new name costs a microsecond and more:
 * 32 MB of nothing else would keep a thread for 20 s. Names that come again cost next to nothing.
 */
export const MAX_JSON_NAMES = 100_000;

export type JsonBound = 'depth' | 'values' | 'names';

/** What JSON beyond a bound does, behind a noun. */
export function beyondBound(bound: JsonBound, maxDepth = MAX_JSON_DEPTH): string {
  if (bound === 'depth') return `is nested deeper than ${maxDepth} levels`;
  if (bound === 'values') return `contains more than ${MAX_JSON_VALUES.toLocaleString('en-US')} values`;
  return `has more than ${MAX_JSON_NAMES.toLocaleString('en-US')} distinct member names`;
}

/** A text was not read because it exceeds a bound of JSON; the message goes behind the name of the text. */
export class JsonBoundError extends Error {
  constructor(bound: JsonBound, maxDepth: number) {
    super(`must not be JSON that ${beyondBound(bound, maxDepth)}`);
    this.name = 'JsonBoundError';
  }
}

/**
 * Reads a text that may be JSON. The bounds of the body it came in do not hold for what it says.
 * @throws JsonBoundError before anything is built from it; SyntaxError when it is no JSON
 */
export function parseJsonText(
  text: string,
  maxDepth = MAX_JSON_DEPTH,
  reviver?: (key: string, value: unknown, context?: JsonContext) => unknown,
  names?: JsonNames,
): unknown {
  const bound = names !== undefined || text.length > maxDepth ? exceededBound(text, maxDepth, names) : null;
  if (bound !== null) throw new JsonBoundError(bound, maxDepth);
  return JSON.parse(text, reviver);
}

/** What a reviver learns of a value, where it is told. */
export interface JsonContext {
  /** The value as the text has it, unless it is an object or array. */
  readonly source?: string;
}

/**
 * Writes what a client sent as JSON. Escapes make up to six characters of one, so what fitted into a body may not fit
 * into any text.
 * @throws DomainError `too_large`
 */
export function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new DomainError('too_large', 'A value is too large for JSON', { cause: error });
  }
}

/** The JSON of a value with the members of its objects sorted: equal values have one. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Which bound JSON exceeds, found in one pass over its text before anything is built from it; null: none. */
export function exceededBound(
  text: string,
  maxDepth = MAX_JSON_DEPTH,
  known: JsonNames = new JsonNames(),
): JsonBound | null {
  let depth = 0;
  let values = 1;
  let names = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at + 1);
    } else if (code === COMMA) {
      values += 1;
    } else if (code === COLON) {
      names += 1;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      values += 1;
      depth += 1;
      if (depth > maxDepth) return 'depth';
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  if (values > MAX_JSON_VALUES) return 'values';
  return known.admit(text, names) ? null : 'names';
}

/** So much of a name tells it from others: there cannot be many that are longer. */
const NAME_COUNTED = 1_000;

/** The different names that the objects of one or more JSON texts, or of a request in another encoding, give their members. */
export class JsonNames {
  /** Members whose names are not kept: there cannot be more names than members. */
  #uncounted = MAX_JSON_NAMES;
  readonly #names = new Set<string>();

  /** @param members how many the text has @returns false: with this text there are too many names */
  admit(text: string, members: number): boolean {
    if (members <= this.#uncounted) {
      this.#uncounted -= members;
      return true;
    }
    for (let at = text.indexOf('"'); at !== -1 && this.#names.size <= MAX_JSON_NAMES; at = text.indexOf('"', at)) {
      const end = endOfString(text, at + 1);
      const name = text.slice(at + 1, Math.min(end, at + 1 + NAME_COUNTED));
      at = end + 1;
      while (isSpace(text.charCodeAt(at))) at += 1;
      if (text.charCodeAt(at) === COLON) this.#names.add(name);
    }
    return this.#names.size <= MAX_JSON_NAMES;
  }

  /** As {@link admit}, of one member. */
  admitName(name: string): boolean {
    if (this.#uncounted > 0) this.#uncounted -= 1;
    else this.#names.add(name);
    return this.#names.size <= MAX_JSON_NAMES;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** Length of strings from which a native search is faster than looking at every character here. */
const LONG_STRING = 64;

/** Index of the quote that closes a string, or the end. @param from behind its opening quote */
export function endOfString(text: string, from: number): number {
  let at = from;
  const near = Math.min(text.length, from + LONG_STRING);
  while (at < near) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    at += code === BACKSLASH ? 2 : 1;
  }
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return text.length;
    if (!isEscaped(text, quote, at)) return quote;
    at = quote + 1;
  }
}

/** Whether an odd number of backslashes stands before the quote; none of them lies before `from`. */
function isEscaped(text: string, quote: number, from: number): boolean {
  let first = quote;
  while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}

/** A value of JSON as people and models are shown it: a text as it is, all else as JSON, and nothing where there is none. */
export function shownText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
