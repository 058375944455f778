import type { Token, Tokens } from 'marked';

export interface Tab {
  readonly title: string;
  readonly tokens: Token[];
}

/** A stretch of a chapter: as it is, or several ways to do one thing, of which the reader chooses one. */
export type Piece = { readonly tokens: Token[] } | { readonly tabs: readonly Tab[] };

/** Depth of the heading that begins a tab. */
export const TAB_DEPTH = 4;

/** Takes out what is between the comments `tabs:start` and `tabs:end`: there, each heading of level 4 begins a tab. */
export function tabsOf(tokens: readonly Token[]): Piece[] {
  const pieces: Piece[] = [];
  let plain: Token[] = [];
  let tabs: Tab[] | null = null;
  for (const token of tokens) {
    if (isMark(token, 'tabs:start')) {
      pieces.push({ tokens: plain });
      [plain, tabs] = [[], []];
    } else if (isMark(token, 'tabs:end')) {
      pieces.push({ tabs: tabs ?? [] });
      tabs = null;
    } else if (tabs === null) plain.push(token);
    else if (token.type === 'heading' && token['depth'] === TAB_DEPTH)
      tabs.push({ title: (token as Tokens.Heading).text, tokens: [] });
    else tabs.at(-1)?.tokens.push(token);
  }
  return [...pieces, { tokens: plain }];
}

function isMark({ type, raw }: Token, mark: string): boolean {
  return type === 'html' && raw.includes(mark);
}
