import { expect } from 'chai';
import fc from 'fast-check';
import { JsonRows } from '../../src/console/model/json-rows.js';

/** Opens everything. */
function opened(value: unknown): JsonRows {
  const rows = new JsonRows(value);
  for (let row = 0; row < rows.count; row += 1) if (rows.row(row).open === false) rows.toggle(row);
  return rows;
}

describe('JSON as rows', () => {
  it('shows every value once, at its path, whatever was opened and closed before', () => {
    const steps = fc.array(fc.nat(), { maxLength: 20 });
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), steps, (value, toggled) => {
        const rows = new JsonRows(value);
        for (const step of toggled) rows.toggle(step % rows.count);
        const all = opened(value);
        expect(all.count).to.equal(valuesIn(value));
        for (let row = 0; row < rows.count; row += 1) {
          const parent = rows.parent(row);
          if (row > 0) expect(rows.row(parent).depth).to.equal(rows.row(row).depth - 1);
          const steps = stepsOf(rows, row);
          const found = steps.reduce<any>((inner, key) => inner[key], value);
          expect(rows.value(row)).to.equal(typeof found === 'string' ? found : JSON.stringify(found, null, 2));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('shows long arrays and objects in ranges', () => {
    const rows = new JsonRows(Array.from({ length: 2_500_000 }, (_, index) => index));
    expect(rows.rows(0, 9).map(({ key, length }) => [key, length])).to.deep.equal([
      [null, 2_500_000],
      ['0 … 999999', 1_000_000],
      ['1000000 … 1999999', 1_000_000],
      ['2000000 … 2499999', 500_000],
    ]);
    rows.toggle(3);
    rows.toggle(503);
    expect(rows.row(503).key).to.equal('2499000 … 2499999');
    expect(rows.row(1503)).to.include({ key: '2499999', text: '2499999', depth: 3, position: 1000, siblings: 1000 });
    expect(rows.path(1503)).to.equal('.[2499999]');
    expect(rows.path(503)).to.equal('.');
    rows.toggle(0);
    expect(rows.count).to.equal(1);
  });

  it('opens at first no more than is seen at once', () => {
    const wide = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, { a: [1, 2, 3], b: 2 }]));
    expect(new JsonRows(wide).count).to.equal(61 - 1);
    expect(new JsonRows('text').count).to.equal(1);
    expect(new JsonRows({}).row(0)).to.include({ type: 'object', open: null });
    expect(new JsonRows({ 'a b': [null] }).path(2)).to.equal('.["a b"][0]');
  });
});

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return 1 + Object.values(value).reduce((sum: number, inner) => sum + valuesIn(inner), 0);
}

function stepsOf(rows: JsonRows, row: number): string[] {
  const { key } = rows.row(row);
  return key === null ? [] : [...stepsOf(rows, rows.parent(row)), key];
}
