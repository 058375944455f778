import { Lexer, type Token, type Tokens } from 'marked';

/** Elements within elements; what is nested deeper is shown as it was written. */
const MAX_DEPTH = 24;
/** Elements of a text. A table of 20 KB can have millions of cells. */
const MAX_TOKENS = 10_000;

/** What a token may hold others in. */
interface Holder {
  readonly tokens?: Token[];
  readonly items?: Tokens.ListItem[];
  readonly header?: Tokens.TableCell[];
  readonly rows?: Tokens.TableCell[][];
}

/**
 * The tokens of a text in GitHub's markdown. HTML in it is a token that is shown as text.
 * @throws Error for a text of more tokens than anybody would read
 */
export function lex(text: string): Token[] {
  const tokens = new Lexer({ gfm: true, breaks: true }).lex(text);
  let left = MAX_TOKENS;
  const count = () => {
    if ((left -= 1) < 0) throw new Error('This text has too many elements');
  };
  return tokens.map((token) => lean(token, 0, count));
}

/** The token without the texts that what it holds has, too: nested, they are a thousand times as long as what they are of. */
function lean(token: Token, depth: number, count: () => void): Token {
  count();
  if (depth > MAX_DEPTH) return { type: 'html', raw: token.raw, text: '', pre: false, block: false };
  const inner = (tokens: readonly Token[]) => tokens.map((each) => lean(each, depth + 1, count));
  const cell = (each: Tokens.TableCell): Tokens.TableCell => {
    count();
    return { ...each, text: '', tokens: inner(each.tokens) };
  };
  const { tokens, items, header, rows } = token as Holder;
  if (items !== undefined)
    return {
      ...token,
      raw: '',
      items: items.map((item) => ({ ...item, raw: '', text: '', tokens: inner(item.tokens) })),
    };
  if (header !== undefined && rows !== undefined)
    return { ...token, raw: '', header: header.map(cell), rows: rows.map((row) => row.map(cell)) };
  if (tokens === undefined || token.type === 'image') return token;
  return { ...token, raw: '', text: '', tokens: inner(tokens) };
}
