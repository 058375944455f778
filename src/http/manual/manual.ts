import { readFileSync } from 'node:fs';

const FOLDER = new URL('static/', import.meta.url);

/** A group of routes, or a topic, as OpenAPI's tags have them. */
export interface Chapter {
  readonly name: string;
  /** Markdown. Its first paragraph, a sentence, says what the chapter is about. */
  readonly description: string;
}

/** Parts of the manual that are derived from definitions. */
export interface Tables {
  /** Every setting. */
  readonly settings: string;
  /** What becomes of the attributes of OpenTelemetry. */
  readonly mapping: string;
  /** Metrics and lines of the log. */
  readonly monitoring: string;
}

/**
 * The manual of each group of routes, then what is about all of them: the Markdown files in `static`, each named after
 * its chapter.
 * @param groups the tags of routes, in the order in which they are shown
 * @param tables what is derived from definitions, and ends a chapter, in Markdown
 */
export function chapters(groups: readonly string[], tables: Tables): Chapter[] {
  const endings: Readonly<Record<string, string>> = {
    OpenTelemetry: tables.mapping,
    Monitoring: tables.monitoring,
    Configuration: tables.settings,
  };
  return [...groups, 'Console', 'OpenTelemetry', 'Monitoring', 'Limits', 'Configuration', 'Questions', 'Changes'].map(
    (name) => {
      const ending = endings[name];
      return { name, description: ending === undefined ? chapter(name) : `${chapter(name)}\n\n${ending}` };
    },
  );
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
