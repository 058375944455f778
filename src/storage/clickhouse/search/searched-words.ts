import { sql, value, type Sql } from '../sql.js';

/*
 * A word is a run of letters and digits; every character beyond ASCII counts as a letter, as for `tokens()` of ClickHouse.
 * A text that is searched for occurs only where its words do: those in its middle as they are, the first as the end of a
 * word and the last as the beginning of one, unless a separator stands before or behind it.
 */
const WORDS = /[0-9A-Za-z\u0080-\u{10ffff}]+/gu;
const DIGIT = /[0-9]/;
/** Shorter ones with digits occur nearly everywhere, and looking for them reads more than for words. */
const MIN_FIGURE_LENGTH = 3;

/**
 * What must hold for the columns `words` and `figures` of spans in which a text occurs; empty when every span qualifies.
 * It may hold where the text does not occur, never the other way round.
 */
export function wordConditions(text: string): Sql[] {
  return [...text.matchAll(WORDS)].flatMap((match) => {
    const [word] = match;
    const digits = DIGIT.test(word);
    if (digits && word.length < MIN_FIGURE_LENGTH) return [];
    const before = match.index > 0 ? '\n' : '';
    const after = match.index + word.length < text.length ? '\n' : '';
    const column = digits ? sql`figures` : sql`words`;
    return [sql`positionCaseInsensitiveUTF8(${column}, ${value(before + word + after, 'String')}) > 0`];
  });
}

/** Words of letters alone, and of others the runs of letters in them: what a word of letters can be a part of. */
export const WORDS_OF_TOKENS =
  "arraySort(arrayDistinct(tokens(translate(arrayStringConcat(tokens, ' '), '0123456789', '          '))))";
export const FIGURES_OF_TOKENS = "arraySort(arrayFilter(token -> match(token, '[0-9]'), tokens))";
