import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import type { Finder } from './finder.js';

/** Most instructions of an expression: repetitions of repetitions are many, and a text takes time for each of them. */
const MAX_INSTRUCTIONS = 2_000;

type Library = { readonly RE2JS: typeof RE2JS };

/** Loaded once a project has an expression of its own. */
let library: Library | null = null;

function re2(): typeof RE2JS {
  library ??= createRequire(import.meta.url)('re2js') as Library;
  return library.RE2JS;
}

/** What is wrong with an expression; null: nothing. */
export function expressionFlaw(expression: string): string | null {
  try {
    const compiled = re2().compile(expression);
    if (compiled.programSize() > MAX_INSTRUCTIONS) return 'must be smaller: it repeats too much';
    return compiled.matcher('').find() ? 'must not match the empty text' : null;
  } catch (error) {
    return `must be an expression of RE2: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Finds what an expression of RE2 matches: in linear time, whatever the expression and the text are. @param expression one without flaws */
export function expressionFinder(expression: string): Finder {
  const compiled = re2().compile(expression);
  return (text, found) => {
    const matcher = compiled.matcher(text);
    while (matcher.find()) {
      const [start, end] = [matcher.start(), matcher.end()];
      if (end > start) found(start, end, text.slice(start, end));
    }
  };
}
