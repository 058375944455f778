import type { Effort } from './effort.js';

/**
 * Tells of each value in a text, in their order; none overlaps another. Takes time in proportion to the text, whatever it says.
 * @param value what equal values have in common, however they are written
 */
export type Finder = (text: string, found: (start: number, end: number, value: string) => void) => void;

/**
 * As a Finder, for what may take long: others get turns wherever it yields, and it gives up once its effort is spent.
 * @returns null: it is done already
 */
export type Search = (
  text: string,
  found: (start: number, end: number, value: string) => void,
  effort: Effort,
) => Generator<undefined, void, undefined> | null;

const ZERO = 0x30;
const NINE = 0x39;

export function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** Whether a character can be part of a word: a letter of the Latin, Greek or Cyrillic script, or a digit. */
export function isWordCode(code: number): boolean {
  return isDigit(code) || isLetter(code);
}

/** Whether a character is a letter of the Latin, Greek or Cyrillic script. */
export function isLetter(code: number): boolean {
  const lower = code | 0x20;
  if (lower >= 0x61 && lower <= 0x7a) return true;
  return code >= 0xc0 && code <= 0x52f && code !== 0xd7 && code !== 0xf7;
}

/**
 * Whether a value may start at a place: no word, and no number, goes on there. The `n` of an escaped line break is no word: texts
 * have pieces of JSON in them.
 */
export function startsAfresh(text: string, start: number): boolean {
  if (start === 0) return true;
  const before = text.charCodeAt(start - 1);
  if (before === UNDERSCORE) return false;
  if (isWordCode(before)) return isEscape(text, start - 1);
  // 3.14159, 1,234
  const isPoint = before === DOT || before === COMMA;
  return !(isPoint && start > 1 && isDigit(text.charCodeAt(start - 2)));
}

/** Whether a value may end at a place. */
export function endsThere(text: string, end: number): boolean {
  if (end >= text.length) return true;
  const after = text.charCodeAt(end);
  if (isWordCode(after) || after === UNDERSCORE) return false;
  const isPoint = after === DOT || after === COMMA;
  return !(isPoint && isDigit(text.charCodeAt(end + 1)));
}

/** Whether the letter at a place is that of an escape, such as `\n`. */
export function isEscape(text: string, at: number): boolean {
  return at > 0 && text.charCodeAt(at - 1) === BACKSLASH && ESCAPES.includes(text.charAt(at));
}

const ESCAPES = 'nrtbf';
const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;
const DOT = 0x2e;
const COMMA = 0x2c;
