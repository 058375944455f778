import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { PROGRAM_ENV } from '../harness/program-files.js';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

export const readme = read('README.md');

/** A chapter of the manual, as it is written. */
export const chapter = (name: string) => read(`src/http/manual/static/${name}.md`);

/** The text of the fenced blocks of a language, in order. */
export function blocks(text: string, language = 'bash'): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block);
}

/** The block between the lines `<!-- name:start -->` and `<!-- name:end -->` of the README. */
export function section(name: string): string {
  const [, text = ''] = new RegExp(`<!-- ${name}:start -->([^]*?)<!-- ${name}:end -->`).exec(readme) ?? [];
  return blocks(text)[0] ?? '';
}

/** The functions that commands of the README and the manual use, as they are written there. */
export function shortForms(text: string): string {
  return blocks(text).find((block) => block.startsWith('house() {')) ?? '';
}

export interface Place {
  readonly url: string;
  readonly key: string;
  readonly projectId: string;
}

/**
 * Runs commands as they are written, against a server of the test: as a script, with the functions of the README.
 * @param shell `sh` knows less than `bash`
 * @returns what they print
 */
export async function run(
  commands: string,
  place: Place,
  env: Readonly<Record<string, string>> = {},
  shell: 'bash' | 'sh' = 'bash',
): Promise<string> {
  const { stdout } = await promisify(execFile)(shell, ['-c', ['set -e', shortForms(readme), commands].join('\n')], {
    env: {
      ...PROGRAM_ENV,
      SPANHOUSE_URL: place.url,
      SPANHOUSE_KEY: place.key,
      SPANHOUSE_PROJECT: place.projectId,
      ...env,
    },
  });
  return stdout;
}

/** As {@link run}. @returns every JSON answer, in order */
export async function answersOf(...args: Parameters<typeof run>): Promise<any[]> {
  return (await run(...args))
    .split(/\n(?=[[{])/)
    .filter((text) => text.trim() !== '')
    .map((text) => JSON.parse(text) as unknown);
}
