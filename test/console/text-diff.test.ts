import { expect } from 'chai';
import fc from 'fast-check';
import { diffRows, hunksOf, variableChanges, type DiffLine } from '../../src/console/model/text-diff.js';
import { unhurried } from '../harness/program.js';

const textOf = (line: DiffLine | null) => line?.parts.map(({ text }) => text).join('') ?? null;
const changedIn = (line: DiffLine | null) =>
  line?.parts.filter(({ changed }) => changed).map(({ text }) => text.trim()) ?? null;

describe('the comparison of two texts', () => {
  it('has every line of both, in order, whatever they are', () => {
    const line = fc.constantFrom('', 'a', 'b', 'a b', 'c\r', '{{x}}');
    const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const rows = diffRows(before, after);
        const side = (name: 'before' | 'after') => rows.flatMap((row) => (row[name] === null ? [] : [row[name]]));
        expect(side('before').map(textOf)).to.deep.equal(before.split('\n'));
        expect(side('after').map(textOf)).to.deep.equal(after.split('\n'));
        for (const name of ['before', 'after'] as const)
          expect(side(name).map(({ number }) => number)).to.deep.equal(side(name).map((_, index) => index + 1));
        for (const row of rows.filter(({ same }) => same)) expect(textOf(row.before)).to.equal(textOf(row.after));
        expect(rows.every(({ same }) => same)).to.equal(before === after);
      }),
    );
  });

  it('marks the words that changed', () => {
    const [row] = diffRows('You help customers of {{shop}}.', 'You help buyers of {{shop}}.');
    expect(row?.same).to.equal(false);
    expect(changedIn(row?.before ?? null)).to.deep.equal(['customers']);
    expect(changedIn(row?.after ?? null)).to.deep.equal(['buyers']);
  });

  it('does not call the last line changed when a line follows it', () => {
    const rows = diffRows('one\ntwo', 'one\ntwo\nthree');
    expect(rows.map(({ same }) => same)).to.deep.equal([true, true, false]);
  });

  it('ends in time on texts that have nothing in common', () => {
    const lines = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}`).join('\n');
    const began = performance.now();
    const rows = diffRows(lines('x'), lines('y'));
    expect(rows.length).to.be.at.least(20_000);
    expect(performance.now() - began).to.be.lessThan(unhurried(5_000));
  });

  it('shows what changed with some lines around it, and says how many it leaves out', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const changed = lines.map((line, index) => (index === 10 || index === 30 ? `${line} else` : line));
    const { hunks, skippedAfter } = hunksOf(diffRows(lines.join('\n'), changed.join('\n')), 2);
    expect(hunks.map(({ skipped, rows }) => [skipped, rows.length])).to.deep.equal([
      [8, 5],
      [15, 5],
    ]);
    expect(skippedAfter).to.equal(7);
    const whole = hunksOf(diffRows(lines.join('\n'), changed.join('\n')), null);
    expect([whole.hunks.map(({ rows }) => rows.length), whole.skippedAfter]).to.deep.equal([[40], 0]);
  });

  it('names the variables that went, came and stayed', () => {
    expect(variableChanges('{{a}} {{ b }} {{a}} {{e}}', '{{e}} {{b}} {{c.d}} {{b}} {{no name}}')).to.deep.equal([
      { name: 'a', change: 'removed' },
      { name: 'c.d', change: 'added' },
      { name: 'e', change: 'kept' },
      { name: 'b', change: 'kept' },
    ]);
    expect(variableChanges('{{a}}', '{{A}}').map(({ change }) => change)).to.deep.equal(['removed', 'added']);
    expect(variableChanges('none', 'of them {b}')).to.deep.equal([]);
  });
});
