import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import type { Finder } from './finder.js';

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

/** What is wrong with an expression; null: nothing. */
export function expressionFlaw(expression: string): string | null {
  try {
    const compiled = re2().compile(expression);
    if (compiled.programSize() > MAX_INSTRUCTIONS) return 'must repeat and enumerate less';
    return compiled.matcher('').find() ? 'must not match the empty text' : null;
  } catch (error) {
    return `must be an expression of RE2: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Finds what an expression of RE2 matches: in linear time, whatever the expression and the text are. @param expression one without flaws */
export function expressionFinder(expression: string): Finder {
  const compiled = re2().compile(expression);
  return (text, found) => {
    let last = 0;
    for (let from = 0; from === 0 || from + OVERLAP < text.length; from += WINDOW - OVERLAP) {
      const to = Math.min(text.length, from + WINDOW);
      const window = text.slice(from, to);
      // To see whether there is a match takes a hundredth of the time that it takes to find it.
      if (!compiled.test(window)) continue;
      const matcher = compiled.matcher(window);
      while (matcher.find()) {
        const [start, end] = [from + matcher.start(), from + matcher.end()];
        // At an edge where the text goes on, a short match may be none, or a part of one that the other window has whole.
        const isCut = (start === from && from > 0) || (end === to && to < text.length);
        if (isCut && end - start < OVERLAP) continue;
        const rest = Math.max(start, last);
        if (end <= rest) continue;
        found(rest, end, text.slice(rest, end));
        last = end;
      }
    }
  };
}
