import { readFileSync } from 'node:fs';

const FOLDER = new URL('static/', import.meta.url);

/** A group of routes, or a topic, as OpenAPI's tags have them. */
export interface Chapter {
  readonly name: string;
  /** Markdown. Its first paragraph, a sentence, says what the chapter is about. */
  readonly description: string;
}

/**
 * The manual of each group of routes, then what is about all of them: the Markdown files in `static`, each named after
 * its chapter.
 * @param groups the tags of routes, in the order in which they are shown
 * @param settings every setting, as a table in Markdown
 */
export function chapters(groups: readonly string[], settings: string): Chapter[] {
  const written = [...groups, 'Limits'].map((name) => ({ name, description: chapter(name) }));
  return [...written, { name: 'Configuration', description: `${chapter('Configuration')}\n\n${settings}` }];
}

/** The introduction of the manual, before its chapters. */
export function overview(): string {
  return read('overview.md');
}

function chapter(name: string): string {
  return read(`${name.toLowerCase().replaceAll(' ', '-')}.md`);
}

function read(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8').trim();
}
