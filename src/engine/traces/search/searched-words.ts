import { join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { folded } from './text-match.js';

/*
 * A word is a run of letters and digits; every character beyond ASCII counts as a letter, as for `tokens()` of ClickHouse.
 * A text that is searched for occurs only where its words do: those in its middle as they are, the first as the end of a
 * word and the last as the beginning of one, unless a separator stands before or behind it.
 */
const WORD = /[0-9A-Za-z\u0080-\u{10ffff}]+/gu;
const DIGIT = /[0-9]/;
/** Shorter words with digits are not looked for: they occur nearly everywhere, and looking for them reads more. */
const MIN_FIGURE_LENGTH = 3;
/** The most words that are looked for, the longest ones: they are the rarest, and a statement takes only so many. */
const MAX_WORDS = 16;

/**
 * Conditions on the columns `words` and `figures`, met by all spans in which a text occurs and perhaps by others; empty
 * when every span qualifies.
 */
export function wordConditions(text: string): Sql[] {
  const words = [...text.matchAll(WORD)].filter(([word]) => word.length >= MIN_FIGURE_LENGTH || !DIGIT.test(word));
  const longest = words.sort(([a], [b]) => b.length - a.length).slice(0, MAX_WORDS);
  return longest.map((match) => {
    const [word] = match;
    const before = match.index > 0 ? '\n' : '';
    const after = match.index + word.length < text.length ? '\n' : '';
    const column = DIGIT.test(word) ? sql`figures` : sql`words`;
    return sql`position(${column}, ${folded(sql`${value(before + word + after, 'String')}`)}) > 0`;
  });
}

/** What a search finds beside inputs and outputs; nearly always null. */
export const ERROR_TEXTS: readonly Sql[] = [sql`error_message`, sql`error_code`];
/** All texts of a span that a search reads, as one that holds the words of each. */
export const SEARCHED_TEXT = sql`concat(payload, ${join(
  ERROR_TEXTS.map((text) => sql`'\\n', ifNull(${text}, '')`),
  ', ',
)})`;
/** About how many bytes these are, without reading most of them. */
export const SEARCHED_BYTES = join(
  [sql`payload`, ...ERROR_TEXTS].map((text) => sql`ifNull(length(${text}), 0)`),
  ' + ',
);

/*
 * The same words as ClickHouse finds them, for the columns of `span_words`: of many texts, first their distinct tokens, as
 * texts are compared.
 */
const DISTINCT = sql`groupUniqArrayArray(tokens(lower(texts)))`;
export const TOKENS = sql`arrayDistinct(tokens(${folded(sql`arrayStringConcat(${DISTINCT}, ' ')`)}))`;
/** The column `words`: of tokens with digits, only the runs of letters, as a word of letters alone can be a part of them. */
export const WORDS = lines(
  sql`arrayDistinct(tokens(translate(arrayStringConcat(tokens, ' '), '0123456789', '          ')))`,
);
export const FIGURES = lines(sql`arrayFilter(token -> match(token, '[0-9]'), tokens)`);

/** Words as one text, sorted, because like this they compress best, with a line break before and behind each. */
function lines(words: Sql): Sql {
  return sql`concat('\\n', arrayStringConcat(arraySort(${words}), '\\n'), '\\n')`;
}
