import { isEscape, isLetter, isWordCode, type Finder } from './finder.js';

/** Endings of files: `icon@2x.png` is no address. */
const FILE_ENDINGS = new Set(
  'png jpg jpeg gif webp svg ico css js mjs cjs ts tsx jsx json html htm xml yaml yml pdf txt log'.split(' '),
);

/** Finds email addresses. Between two `@` each character is looked at once in each direction. */
export const findEmails: Finder = (text, found) => {
  for (let at = text.indexOf('@'), from = 0; at !== -1; at = text.indexOf('@', Math.max(at + 1, from))) {
    const start = localStart(text, at, from);
    const end = start === at ? at : domainEnd(text, at + 1);
    if (end <= at + 1) continue;
    found(start, end, text.slice(start, end).toLowerCase());
    from = end;
  }
};

const IN_LOCAL = new Set(Array.from("._%+'-&", (character) => character.charCodeAt(0)));
const DOT = 0x2e;
const HYPHEN = 0x2d;

/** @returns `at` where no name stands before it */
function localStart(text: string, at: number, from: number): number {
  let start = at;
  while (start > from) {
    const code = text.charCodeAt(start - 1);
    if (!isWordCode(code) && !IN_LOCAL.has(code)) break;
    start -= 1;
  }
  if (text.charCodeAt(at - 1) === DOT) return at;
  start = afterEscape(text, start);
  while (start < at && !isWordCode(text.charCodeAt(start)) && text.charAt(start) !== '_') start += 1;
  return Math.min(start, at);
}

/** Behind the letters of an escape, such as `\n` or `\u003c`, which are no part of what follows. */
function afterEscape(text: string, start: number): number {
  if (isEscape(text, start)) return start + 1;
  return text.charAt(start - 1) === '\\' && /^u[0-9a-f]{4}/i.test(text.slice(start, start + 5)) ? start + 5 : start;
}

/** @returns `from` where no name of a host stands there */
function domainEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (!isWordCode(code) && code !== DOT && code !== HYPHEN) break;
    end += 1;
  }
  const [first = '', ...rest] = text.slice(from, end).split('.');
  if (!isLabel(first)) return from;
  let [length, isHost] = [first.length, false];
  let offset = first.length;
  for (const label of rest) {
    const letters = lettersOf(label);
    if (letters >= 2 && (letters === label.length || label.charCodeAt(letters) === HYPHEN) && !isFile(label)) {
      length = offset + 1 + letters;
      isHost = true;
    }
    if (!isLabel(label)) break;
    offset += 1 + label.length;
  }
  return isHost ? from + length : from;
}

function isLabel(label: string): boolean {
  return label !== '' && label.charCodeAt(0) !== HYPHEN;
}

function isFile(label: string): boolean {
  return FILE_ENDINGS.has(label.toLowerCase());
}

function lettersOf(label: string): number {
  // Of a name in another script.
  if (/^xn--[a-z0-9-]+$/i.test(label)) return label.length;
  let count = 0;
  while (count < label.length && isLetter(label.charCodeAt(count))) count += 1;
  return count;
}
