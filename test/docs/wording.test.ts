import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const CONTRIBUTING = '.github/CONTRIBUTING.md';
/** The head of the table of words in it. */
const HEAD = /\| Not +\| But +\|\n\|[- |]+\n/;
const MANUAL = 'src/http/manual/static';

/** The words of the table in CONTRIBUTING, with what is to stand there. */
function refusedWords(): (readonly [word: string, instead: string])[] {
  const [, table = ''] = readFileSync(CONTRIBUTING, 'utf8').split(HEAD);
  const [rows = ''] = table.split('\n\n');
  return rows.split('\n').flatMap((row) => {
    const [words = '', instead = ''] = row
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    return words.split(', ').map((word) => [word, instead] as const);
  });
}

/** What users read, by where it stands. */
function texts(): Map<string, string> {
  const pages = readdirSync(MANUAL).filter((name) => name.endsWith('.md'));
  const files = ['README.md', CONTRIBUTING, ...pages.map((name) => join(MANUAL, name))];
  const read = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
  // The table itself names them.
  const [before = '', after = ''] = (read.get(CONTRIBUTING) ?? '').split(HEAD);
  read.set(CONTRIBUTING, before + after.slice(after.indexOf('\n\n')));
  read.set('schema/openapi.json', [...described(JSON.parse(readFileSync('schema/openapi.json', 'utf8')))].join('\n'));
  return read;
}

function* described(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (typeof value === 'string' && ['summary', 'description', 'title'].includes(key)) yield value;
    else yield* described(value);
  }
}

describe('the wording of what users read', () => {
  it('has none of the words that CONTRIBUTING refuses', () => {
    const words = refusedWords();
    expect(words.length).to.be.above(10);
    const found = [...texts()].flatMap(([file, text]) =>
      words
        .filter(([word]) => new RegExp(`\\b${word}\\b`, 'i').test(text))
        .map(([word, instead]) => `${file} says "${word}"; say: ${instead}`),
    );
    expect(found).to.deep.equal([]);
  });
});
