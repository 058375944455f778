import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { processorMs } from './effort.js';
import type { Search } from './finder.js';

/** Most instructions of an expression: a text takes time for each of them. */
const MAX_INSTRUCTIONS = 300;
/** Longer texts are looked through in windows: only for short ones, RE2 takes little time for any expression. */
const WINDOW = 4_096;
/** How far windows overlap: longer matches are found in parts, or not. */
const OVERLAP = 1_024;

/** Loaded once a project has an expression of its own. */
let library: { readonly RE2JS: typeof RE2JS } | null = null;

function re2(): typeof RE2JS {
  library ??= createRequire(import.meta.url)('re2js') as { readonly RE2JS: typeof RE2JS };
  return library.RE2JS;
}

/** What is wrong with an expression; null: nothing. @param measured of the expressions beside it */
export function expressionFlaw(expression: string, measured: Measured = { ms: 0 }): string | null {
  try {
    const compiled = re2().compile(expression);
    if (compiled.programSize() > MAX_INSTRUCTIONS) return 'must repeat and enumerate less';
    if (compiled.matcher('').find()) return 'must not match the empty text';
    return isTooSlow(compiled, expression, measured) ? TOO_COMPLEX : null;
  } catch (error) {
    return `must be an expression of RE2: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** How long the expressions of a request took so far, all together. */
export interface Measured {
  ms: number;
}

const TOO_COMPLEX = 'is too complex: use fewer repetitions and alternatives';
/** Longest time that an expression may take for the texts that it is tried on. Most take a tenth of it. */
const MAX_TRIED_MS = 30;
/** Longest time that the expressions of a request may take together. */
const MAX_MEASURED_MS = 500;
/** A slow search is tried again: what was not compiled yet is slow, too. */
const TRIES = 3;
const TRIED_LENGTH = 1_024;
/** Letters and digits of an expression that it is tried on. */
const TRIED_CHARACTERS = 6;

/**
 * Tries an expression on texts in which it may find much, or look far ahead each time. To find one match, RE2 takes time in proportion
 * to the text; to find all, it may take that for each.
 */
function isTooSlow(compiled: RE2JS, expression: string, measured: Measured): boolean {
  const texts = triedTexts(expression);
  for (let tries = TRIES; tries > 0 && measured.ms <= MAX_MEASURED_MS; tries -= 1) {
    const began = processorMs();
    const isLate = () => processorMs() - began > MAX_TRIED_MS;
    for (const text of texts) if (findsUntil(compiled, text, isLate)) break;
    const took = processorMs() - began;
    measured.ms += took;
    if (took <= MAX_TRIED_MS) return measured.ms > MAX_MEASURED_MS;
  }
  return true;
}

/** @returns whether it was too late before everything was found */
function findsUntil(compiled: RE2JS, text: string, isLate: () => boolean): boolean {
  if (!compiled.test(text)) return isLate();
  const matcher = compiled.matcher(text);
  for (let found = 1; matcher.find(); found += 1) if (found % 16 === 0 && isLate()) return true;
  return isLate();
}

/** Texts of one of the characters that an expression names, and of two of them in turn. */
function triedTexts(expression: string): string[] {
  const named = expression.replace(/\\./gu, '').match(/[\p{L}\p{N}]/gu) ?? [];
  const characters = [...new Set(['a', 'b', '0', ...named])].slice(0, 3 + TRIED_CHARACTERS);
  const pairs = characters.flatMap((one, index) => characters.slice(index).map((other) => one + other));
  return pairs.map((pair) => pair.repeat(TRIED_LENGTH / 2));
}

/** Finds what an expression of RE2 matches, as far as its effort allows. @param expression one without flaws */
export function expressionSearch(expression: string): Search {
  const compiled = re2().compile(expression);
  return function* (text, found, effort) {
    let last = 0;
    for (let from = 0; from === 0 || from + OVERLAP < text.length; from += WINDOW - OVERLAP) {
      if (from > 0) yield;
      effort.begin();
      const to = Math.min(text.length, from + WINDOW);
      const window = text.slice(from, to);
      // To see whether there is a match takes a hundredth of the time that it takes to find it.
      const matcher = compiled.test(window) ? compiled.matcher(window) : null;
      while (!effort.isLate() && matcher?.find() === true) {
        const [start, end] = [from + matcher.start(), from + matcher.end()];
        // At an edge where the text goes on, a short match may be none, or a part of one that the other window has whole.
        const isCut = (start === from && from > 0) || (end === to && to < text.length);
        if (isCut && end - start < OVERLAP) continue;
        const rest = Math.max(start, last);
        if (end <= rest) continue;
        found(rest, end, text.slice(rest, end));
        last = end;
      }
      effort.end();
      if (effort.isSpent) return;
    }
  };
}
