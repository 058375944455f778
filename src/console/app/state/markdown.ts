import type { Token } from 'marked';
import { Helper } from './worker.js';

/** Longest text that is read as markdown. */
const LONGEST = 20_000;
/** A text made to be slow to read is shown as it is. */
const MAX_MS = 2000;
const KEPT = 300;

const helper = new Helper();
const kept = new Map<string, Token[] | null>();
let turn: Promise<unknown> = Promise.resolve();

/** The tokens of a markdown text; null: show it as it is. Read in a worker, one after another. */
export function markdownOf(text: string): Token[] | null | Promise<Token[] | null> {
  if (text.length > LONGEST) return null;
  const known = kept.get(text);
  if (known !== undefined) return known;
  const read = turn.then(async () => {
    const timer = setTimeout(() => helper.stop('This text takes too long to render'), MAX_MS);
    const tokens = await helper.do({ does: 'lex', text }).catch(() => null);
    clearTimeout(timer);
    return keep(text, tokens as Token[] | null);
  });
  turn = read;
  return read;
}

function keep(text: string, tokens: Token[] | null): Token[] | null {
  const [oldest] = kept.keys();
  if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(text, tokens);
  return tokens;
}
