import type { Label, ShapedSpan, WantedText } from './shapes.js';

/** Begins every line of a text but its first, so that no text can look like a line of the outline. */
export const NEXT_LINE = '\n| ';
/** Less of a text says nothing: it is left out instead. */
export const LEAST_TEXT = 80;

/** A text that may be shown. */
export interface TextItem {
  readonly span: ShapedSpan;
  readonly label: Label;
  /** What stands before it in its line. */
  readonly before: string;
  /** Characters that the text takes if it is shown whole. */
  readonly need: number;
}

/** A text of a span, if it has it. */
export function textItems(span: ShapedSpan, label: Label, before: string): TextItem[] {
  const size = span.texts[label];
  if (size === null) return [];
  return [{ span, label, before, need: size.length + size.breaks * (NEXT_LINE.length - 1) }];
}

/** What an item takes at least: its beginning, the least of its text, and a line break. */
export function leastOf({ before, need }: TextItem): number {
  return before.length + Math.min(need, LEAST_TEXT) + 1;
}

/**
 * The characters that texts get of a budget: each at least its floor, and all that need more the same length.
 * @param floors of each text, by its place; their sum, as far as texts need them, fits into the budget
 */
export function shared(needs: readonly number[], budget: number, floors: readonly number[] = []): number[] {
  const at = (level: number) => needs.map((need, place) => Math.min(need, Math.max(floors[place] ?? 0, level)));
  let fits = 0;
  let tooMuch = needs.reduce((most, need) => Math.max(most, need), 0) + 1;
  while (tooMuch - fits > 1) {
    const level = Math.floor((fits + tooMuch) / 2);
    if (sum(at(level)) <= budget) fits = level;
    else tooMuch = level;
  }
  return at(fits);
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** The first items whose least fits into a budget; one that does not is skipped. */
export function fittingItems(items: readonly TextItem[], budget: number): TextItem[] {
  let left = budget;
  return items.filter((item) => {
    const least = leastOf(item);
    if (least > left) return false;
    left -= least;
    return true;
  });
}

/** What is to be read for texts: those that are shown, each as long as it may get. */
export function wantedTexts(items: readonly TextItem[], characters: readonly number[]): WantedText[] {
  return items.map(({ span, label }, place) => ({ span, label, characters: characters[place] ?? 0 }));
}
