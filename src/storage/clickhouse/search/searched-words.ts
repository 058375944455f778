import { sql, value, type Sql } from '../client/sql.js';

/*
 * A word is a run of letters and digits; every character beyond ASCII counts as a letter, as for `tokens()` of ClickHouse.
 * A text that is searched for occurs only where its words do: those in its middle as they are, the first as the end of a
 * word and the last as the beginning of one, unless a separator stands before or behind it.
 */
const WORD = /[0-9A-Za-z\u0080-\u{10ffff}]+/gu;
const DIGIT = /[0-9]/;
/** Shorter ones with digits occur nearly everywhere, and looking for them reads more than for words. */
const MIN_FIGURE_LENGTH = 3;
/** Of a long text the longest words are looked for: they are the rarest, and a statement takes only so many. */
const MAX_WORDS = 16;

/**
 * What must hold for the columns `words` and `figures` of spans in which a text occurs; empty when every span qualifies.
 * It may hold where the text does not occur, never the other way round.
 */
export function wordConditions(text: string): Sql[] {
  const words = [...text.matchAll(WORD)].filter(([word]) => word.length >= MIN_FIGURE_LENGTH || !DIGIT.test(word));
  const longest = words.sort(([a], [b]) => b.length - a.length).slice(0, MAX_WORDS);
  return longest.map((match) => {
    const [word] = match;
    const before = match.index > 0 ? '\n' : '';
    const after = match.index + word.length < text.length ? '\n' : '';
    const column = DIGIT.test(word) ? sql`figures` : sql`words`;
    return sql`positionCaseInsensitiveUTF8(${column}, ${value(before + word + after, 'String')}) > 0`;
  });
}

/*
 * The same words as ClickHouse finds them, for the columns of `span_words`: of many texts, first their distinct tokens.
 */
export const TOKENS = sql`groupUniqArrayArray(tokens(lower(payload)))`;
/** Of tokens with digits it keeps the runs of letters: what a word of letters alone can be a part of. */
export const WORDS = lines(
  sql`arrayDistinct(tokens(translate(arrayStringConcat(tokens, ' '), '0123456789', '          ')))`,
);
export const FIGURES = lines(sql`arrayFilter(token -> match(token, '[0-9]'), tokens)`);

/** Sorted, because like this they compress best, with a line break before and behind each. */
function lines(words: Sql): Sql {
  return sql`concat('\\n', arrayStringConcat(arraySort(${words}), '\\n'), '\\n')`;
}
