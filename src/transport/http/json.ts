import { isAscii, isUtf8 } from 'node:buffer';
import { DomainError } from '../../domain/errors.js';

/** Deeper JSON has no use here, and would overflow the stack of whatever walks it later. */
export const MAX_JSON_DEPTH = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/**
 * Parses a JSON body. A `__proto__` member stays an ordinary own property.
 * @throws DomainError `malformed`, with the position where that is known
 */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new DomainError('malformed', 'The body is empty; JSON was expected');
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) throw new DomainError('malformed', 'The body is not valid UTF-8');
  if (exceedsDepth(bytes))
    throw new DomainError('malformed', `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels`);
  try {
    // For ASCII it is the same text, made by copying bytes instead of decoding them.
    return JSON.parse(bytes.toString(ascii ? 'latin1' : 'utf8'));
  } catch (error) {
    const position = /at position \d+( \(line \d+ column \d+\))?/.exec(error instanceof Error ? error.message : '');
    // V8's message quotes the body; the position alone helps as much.
    const where = position === null ? ': it ends too early or is no JSON at all' : ` ${position[0]}`;
    throw new DomainError('malformed', `The body is not valid JSON${where}`, { cause: error });
  }
}

/** One pass over the bytes, before anything is built from them. Every byte looked for is ASCII, so UTF-8 needs no decoding. */
function exceedsDepth(bytes: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfString(bytes, at + 1);
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) return true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return false;
}

/** In strings longer than this, searching natively is faster than looking at every byte here. */
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
