import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { configurationTable } from '../../src/config/documentation.js';
import { monitoringTables } from '../../src/engine/signals/documentation.js';
import { createMetrics } from '../../src/engine/signals/metrics.js';
import { mappingTables } from '../../src/otlp/genai/documentation.js';

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
  read.set(
    'tables of the manual',
    [configurationTable(), mappingTables(), monitoringTables(createMetrics())].join('\n'),
  );
  return read;
}

/** How many words the sentences of a chapter have on average: of its text, without code, tables and headings. */
function averageSentence(text: string): number {
  const prose = text.replace(/```[^]*?```/g, '').replace(/^(?:#|\||<!--).*$/gm, '');
  const sentences = prose
    .split(/(?<=[.!?:;])\s|\n\n|\n *- /)
    .map((sentence) => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length)
    .filter((words) => words > 1);
  return sentences.reduce((sum, words) => sum + words, 0) / Math.max(1, sentences.length);
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

  it('has sentences of at most 25 words on average, in every chapter of the manual', () => {
    const long = [...texts()]
      .filter(([file]) => file.startsWith(MANUAL))
      .filter(([, text]) => averageSentence(text) > 25)
      .map(([file]) => file);
    expect(long).to.deep.equal([]);
    expect(averageSentence('One two three. Four five.')).to.equal(2.5);
  });
});
