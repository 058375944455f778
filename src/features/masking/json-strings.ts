import { endOfString } from '../../engine/json-text.js';

/** What stands between the strings of JSON. */
const BETWEEN = /^[\s\d[\]{}:,.+\-eEtrufalsn]*$/;
/** Behind any of these, a string is no longer the value of the last name. */
const ENDS_NAME = /[[\]{},]/;
const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']', '"': '"' };

/** Whether a text may be JSON of more than a number or a word, told without reading it. */
export function looksLikeJson(text: string): boolean {
  const first = text.trimStart().charAt(0);
  const closing = CLOSING[first];
  return closing !== undefined && text.length > 1 && text.trimEnd().endsWith(closing);
}

/** A string in JSON: where its content is, and what it says. */
export interface JsonString {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Of the member that it is the value of; empty: of none. */
  readonly name: string;
}

/**
 * The values in JSON that are strings, in their order; names of members are none. Lines of JSON are read as well.
 * @returns false where something else stands between them: the text is no JSON
 */
export function* stringsIn(json: string): Generator<JsonString, boolean, undefined> {
  let [from, name] = [0, ''];
  for (;;) {
    const quote = json.indexOf('"', from);
    const between = json.slice(from, quote === -1 ? json.length : quote);
    if (!BETWEEN.test(between)) return false;
    if (ENDS_NAME.test(between)) name = '';
    if (quote === -1) return true;
    const end = endOfString(json, quote + 1);
    if (end >= json.length) return false;
    from = end + 1;
    const text = contentOf(json.slice(quote + 1, end));
    if (text === null) return false;
    if (/^\s*:/.test(json.slice(from, from + MAX_GAP))) name = text;
    else {
      yield { start: quote + 1, end, text, name };
      name = '';
    }
  }
}

/** White space between a name and its colon that is looked through. */
const MAX_GAP = 64;

function contentOf(raw: string): string | null {
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return null;
  }
}

/** The JSON of a string without its quotes. */
export function asContent(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
