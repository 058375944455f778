import { expect } from 'chai';
import fc from 'fast-check';
import { coveredBy } from '../../src/storage/clickhouse/search/time-ranges.js';

describe('ranges of time that a search reads', () => {
  const range = fc
    .tuple(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 0, max: 50 }))
    .map(([from, length]) => ({ from, to: from + length }));

  it('cover every range given, are few, in order and apart', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 60 }), fc.integer({ min: 1, max: 8 }), (ranges, most) => {
        const covered = coveredBy(ranges, most);
        expect(covered.length).to.be.at.most(most);
        for (const { from, to } of ranges)
          expect(covered.some((one) => one.from <= from && one.to >= to)).to.equal(true);
        covered.slice(1).forEach(({ from }, index) => expect(from).to.be.greaterThan(covered[index]?.to ?? Infinity));
      }),
    );
  });

  it('are as narrow as their number allows', () => {
    const ranges = [
      { from: 0, to: 1 },
      { from: 3, to: 4 },
      { from: 100, to: 101 },
      { from: 103, to: 110 },
    ];
    expect(coveredBy(ranges, 2)).to.deep.equal([
      { from: 0, to: 4 },
      { from: 100, to: 110 },
    ]);
    expect(coveredBy(ranges, 4)).to.deep.equal(ranges);
    expect(coveredBy([], 3)).to.deep.equal([]);
  });
});
