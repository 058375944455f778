import { Marked } from 'marked';
import { anchors, textOf } from './anchors.js';
import type { Chapter } from './chapters.js';
import { TAB_DEPTH } from './tabs.js';

/** A section of the manual as the search finds it; short names, as there are hundreds. */
export interface SearchedSection {
  /** Name of the chapter. */
  readonly page: string;
  readonly title: string;
  /** Of the section; empty for what is above the first heading. */
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

/** Between them stands what would be found for every other word, such as a table of tests. */
const [OFF, ON] = ['<!-- search:off -->', '<!-- search:on -->'];

/** Every section of every chapter, for a search in the browser. */
export function searchIndex(chapters: readonly Chapter[]): SearchedSection[] {
  return chapters.flatMap(sectionsOf);
}

function sectionsOf({ name, title, summary, text }: Chapter): SearchedSection[] {
  const anchorOf = anchors();
  const sections = [{ heading: '', anchor: '', texts: [summary] }];
  let isSearched = true;
  for (const token of new Marked({ gfm: true }).lexer(text)) {
    if (token.raw.includes(OFF)) isSearched = false;
    if (token.raw.includes(ON)) isSearched = true;
    if (!isSearched) continue;
    // What begins a tab is no section.
    if (token.type !== 'heading' || token['depth'] === TAB_DEPTH) sections.at(-1)?.texts.push(textOf([token]));
    else {
      const heading = textOf(token.tokens ?? []);
      sections.push({ heading, anchor: anchorOf(heading), texts: [] });
    }
  }
  return sections.map(({ heading, anchor, texts }) => ({
    page: name,
    title,
    heading,
    anchor,
    text: texts.join(' ').replace(/\s+/g, ' ').trim(),
  }));
}
