import { DomainError } from './errors.js';

/**
 * JSON that is nested deeper is not read, be it a body or a text within one: it has no use here, and would overflow the
 * stack of whatever walks it later.
 */
export const MAX_JSON_DEPTH = 200;

/** A text was not read because it is nested too deeply; the message goes behind the name of the text. */
export class JsonDepthError extends Error {
  constructor(maxDepth: number) {
    super(`must not be JSON that is nested deeper than ${maxDepth} levels`);
    this.name = 'JsonDepthError';
  }
}

/**
 * Reads a text that may be JSON. The body it came in says nothing of its depth.
 * @throws JsonDepthError before anything is built from it; SyntaxError when it is no JSON
 */
export function parseJsonText(
  text: string,
  maxDepth = MAX_JSON_DEPTH,
  reviver?: (key: string, value: unknown, context?: JsonContext) => unknown,
): unknown {
  if (text.length > maxDepth && isDeeper(text, maxDepth)) throw new JsonDepthError(maxDepth);
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
    throw new DomainError('too_large', 'A value is too large to be written as JSON', { cause: error });
  }
}

/** As {@link exceedsDepth}, of a text: browsers read it, too, and have no buffers. */
function isDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(text, at + 1);
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return false;
}

/** Index of the closing quote, or the end. */
function endOfText(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/** Whether JSON is nested too deeply, in one pass over its UTF-8. Every byte looked for is ASCII, so nothing is decoded. */
export function exceedsDepth(json: Buffer, maxDepth = MAX_JSON_DEPTH): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) {
      at = endOfString(json, at + 1);
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return false;
}

/** Length of strings from which a native search is faster than looking at every byte here. */
const LONG_STRING = 64;

/** Index of the closing quote, or the end. */
function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  const near = Math.min(bytes.length, from + LONG_STRING);
  while (at < near && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  if (at < near || at >= bytes.length) return at;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    if (!isEscaped(bytes, quote, at)) return quote;
    at = quote + 1;
  }
}

/** Whether an odd number of backslashes stands before the quote; none of them lies before `from`. */
function isEscaped(bytes: Buffer, quote: number, from: number): boolean {
  let first = quote;
  while (first > from && bytes[first - 1] === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}
