import type { Token, Tokens } from 'marked';

/** Gives headings their anchors, each once, as GitHub does: so links work in the Markdown files, too. */
export function anchors(): (heading: string) => string {
  const given = new Map<string, number>();
  return (heading) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\s-]/gu, '')
      .replaceAll(' ', '-');
    const times = given.get(anchor) ?? 0;
    given.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  };
}

/** The text of parsed Markdown, without its marks. */
export function textOf(tokens: readonly Token[]): string {
  return tokens.map(textOfOne).join('');
}

function textOfOne(token: Token): string {
  switch (token.type) {
    case 'html':
      return ' ';
    case 'space':
    case 'br':
      return ' ';
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].map((cells) => cells.map((cell) => textOf(cell.tokens)).join(' ')).join(' ');
    }
    case 'list':
      return (token as Tokens.List).items.map((item) => textOf(item.tokens)).join(' ');
    default:
      if ('tokens' in token && token.tokens !== undefined) return textOf(token.tokens);
      return 'text' in token ? String(token.text) : '';
  }
}
