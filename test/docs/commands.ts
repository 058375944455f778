import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

export const readme = read('README.md');

/** A chapter of the manual, as it is written. */
export const chapter = (name: string) => read(`src/transport/http/manual/static/${name}.md`);

/** The text of the fenced blocks of a language, in order. */
export function blocks(text: string, language = 'bash'): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block);
}

/** The block between the lines `<!-- name:start -->` and `<!-- name:end -->` of the README. */
export function section(name: string): string {
  const [, text = ''] = new RegExp(`<!-- ${name}:start -->([^]*?)<!-- ${name}:end -->`).exec(readme) ?? [];
  return blocks(text)[0] ?? '';
}

/** The command that an alias of the README or the manual stands for. */
export function aliased(name: string, text: string): string {
  return new RegExp(`^alias ${name}='(.*)'$`, 'm').exec(text)?.[1] ?? '';
}

export interface Place {
  readonly url: string;
  readonly key: string;
  readonly projectId: string;
}

/** Runs commands as they are written, against a server of the test. @returns what they print */
export async function run(commands: string, place: Place, env: Readonly<Record<string, string>> = {}): Promise<string> {
  // Answers stand one behind the other; a line break after each tells them apart. Scripts have no aliases.
  const functions = ['house', 'span'].map((name) => `${name}() { ${aliased(name, readme)} -w '\\n' "$@"; }`);
  const written = commands.replace(/^alias .*\n/gm, '').replaceAll('http://127.0.0.1:4318', '$BASE');
  const { stdout } = await promisify(execFile)('bash', ['-c', ['set -e', ...functions, written].join('\n')], {
    env: {
      PATH: process.env['PATH'] ?? '',
      BASE: place.url,
      SPANHOUSE_KEY: place.key,
      PROJECT: place.projectId,
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
