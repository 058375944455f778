import { expect } from 'chai';
import type { Token } from 'marked';
import { JsonRows } from '../../src/console/model/json-rows.js';
import { lex } from '../../src/console/model/markdown-lexer.js';
import { addressOf, leadsElsewhere, placeOf } from '../../src/console/model/place.js';
import { TextDocument } from '../../src/console/model/text-document.js';
import { diffRows, variableChanges } from '../../src/console/model/text-diff.js';
import { unhurried } from '../harness/program.js';

/** The longest text that is read as markdown. */
const LONGEST = 20_000;

describe('markdown that is made to be large', () => {
  /** What goes from the worker to the thread that draws. */
  const sizeOf = (tokens: readonly Token[]) => JSON.stringify(tokens).length;

  it('is never much larger than its text, and keeps what is nested too deep as it was written', () => {
    for (const begin of ['>', '- ', '1. ']) {
      const text = begin.repeat(200) + 'a'.repeat(LONGEST - 200 * begin.length);
      const tokens = lex(text);
      expect(sizeOf(tokens), begin).to.be.lessThan(3 * LONGEST);
      expect(JSON.stringify(tokens), begin).to.include(`${begin}aaa`);
    }
  });

  it('is refused where there are too many elements, as in a table of millions of cells', () => {
    const wide = '|a'.repeat(300) + '|\n' + '|-'.repeat(300) + '|\n';
    expect(() => lex(wide + '|\n'.repeat(2_000))).to.throw('too many elements');
    expect(() => lex('*a* '.repeat(LONGEST / 4)), 'emphasis').to.throw('too many elements');
  });

  it('is read as ever else', () => {
    const tokens: any[] = lex('# *a* b\n- [x] c\n  - d\n\n|e|\n|-|\n|f|');
    const [heading, list, table] = ['heading', 'list', 'table'].map((of) => tokens.find(({ type }) => type === of));
    expect(heading.tokens.map(({ type }: Token) => type)).to.deep.equal(['em', 'text']);
    expect(list.items[0]).to.include({ task: true, checked: true });
    expect(JSON.stringify(list.items[0].tokens)).to.include('"text":"d"');
    expect([table.header[0].tokens[0].text, table.rows[0][0].tokens[0].text]).to.deep.equal(['e', 'f']);
  });
});

describe('JSON that browsers would change', () => {
  const shown = (text: string) => {
    const document = new TextDocument({ text });
    const { rows } = document.jsonRows('text', 0, 100);
    return { texts: rows.slice(1).map((row) => row.text), whole: document.jsonValue('text', 0).text.head };
  };

  it('has its numbers as they were written', () => {
    const numbers = ['12345678901234567891', '-0.12345678901234567891', '1e400', '9007199254740993', '1.5', '1.0'];
    const { texts, whole } = shown(`[${numbers.join(',')},"9007199254740993"]`);
    expect(texts).to.deep.equal([...numbers.slice(0, 5), '1', '9007199254740993']);
    for (const number of numbers.slice(0, 5)) expect(whole).to.include(`  ${number}`);
  });

  it('has every key, also those that objects have', () => {
    const { texts } = shown('{"__proto__":{"a":1},"constructor":"c","toJSON":"t","n":9007199254740993}');
    expect(texts).to.deep.equal(['', '1', 'c', 't', '9007199254740993']);
  });

  it('of very many keys is shown at once', () => {
    const rows = new JsonRows(Object.fromEntries(Array.from({ length: 300_000 }, (_, index) => [`k${index}`, index])));
    const one = timeOf(() => rows.rows(1, 2));
    expect(timeOf(() => rows.rows(1, 101))).to.be.lessThan(20 * one + unhurried(50));
  });
});

describe('texts that are made to be slow to compare', () => {
  it('are compared in bounded time, however many places changed', () => {
    const words = (seed: string) => Array.from({ length: 2_000 }, (_, index) => `${seed}${index}`).join(' ');
    const text = (seed: string) =>
      Array.from({ length: 30 }, (_, index) => `${words(`${seed}${index}x`)}\nsame ${index}`);
    const [before, after] = [text('a').join('\n'), text('b').join('\n')];
    expect(timeOf(() => diffRows(before, after))).to.be.lessThan(unhurried(5_000));
    expect(diffRows(before, after).filter(({ same }) => same)).to.have.length(30);
  });

  it('have their variables told apart, however many there are', () => {
    const names = (first: string) => Array.from({ length: 60_000 }, (_, index) => `{{${first}${index}}}`).join('');
    let changes = variableChanges('', '');
    expect(timeOf(() => (changes = variableChanges(names('a'), names('b'))))).to.be.lessThan(unhurried(2_000));
    expect(changes).to.have.length(120_000);
  });
});

describe('names that mean something else in an address', () => {
  it('are found again', () => {
    for (const id of ['a//b', '/a', 'a/', 'a/../b', './a', 'a/./b', '100%/2F', 'a/b', '?#'])
      for (const base of ['', '/sub']) {
        const address = addressOf(base, { project: '1', screen: 'prompts', id, query: new URLSearchParams() });
        expect(placeOf(base, new URL(address, 'https://example.org')), id).to.include({ screen: 'prompts', id });
      }
  });
});

describe('names of dots alone', () => {
  it('lead no call of the API elsewhere', () => {
    const path = (slug: string, tag: string) => `/projects/1/prompts/${encodeURIComponent(slug)}/tags/${tag}`;
    expect(new URL(path('..', '..'), 'https://example.org').pathname, 'as browsers read it').to.equal('/projects/1/');
    for (const [slug, tag] of [
      ['..', 'a'],
      ['a', '.'],
      ['%2E%2e', 'a'],
    ] as const)
      expect(leadsElsewhere(decodeURIComponent(path(slug, tag)))).to.equal(true);
    expect(leadsElsewhere(path('..', '..'))).to.equal(true);
    for (const slug of ['a', '...', 'a/../b', '..a']) expect(leadsElsewhere(path(slug, 'b.c')), slug).to.equal(false);
  });
});

function timeOf(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}
