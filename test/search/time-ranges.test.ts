import { expect } from 'chai';
import fc from 'fast-check';
import { coveredBy, outermost } from '../../src/engine/traces/search/time-ranges.js';

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

  it('of the newest or oldest hold about as many spans as wanted, and all beyond a moment', () => {
    const indexed = fc.tuple(range, fc.integer({ min: 1, max: 9 })).map(([one, spans]) => ({ ...one, spans }));
    fc.assert(
      fc.property(
        fc.array(indexed, { maxLength: 20 }),
        fc.integer({ min: 1, max: 60 }),
        fc.boolean(),
        (all, most, latest) => {
          const some = outermost(all, most, latest);
          if (some === null) return;
          const edge = latest ? Math.min(...some.map(({ from }) => from)) : Math.max(...some.map(({ to }) => to));
          for (const { from, to } of all)
            for (const at of [from, to])
              if (latest ? at >= edge : at <= edge)
                expect(some.some((one) => one.from <= at && at <= one.to)).to.equal(true);
          const within = all.filter(({ from, to }) => (latest ? from >= edge : to <= edge));
          expect(within.reduce((sum, { spans }) => sum + spans, 0)).to.be.at.least(most);
        },
      ),
    );
    const three = [0, 10, 20].map((from) => ({ from, to: from + 5, spans: 4 }));
    expect(outermost(three, 5, true)).to.deep.equal([
      { from: 10, to: 15 },
      { from: 20, to: 25 },
    ]);
    expect(outermost(three, 4, false)).to.deep.equal([{ from: 0, to: 5 }]);
    expect(outermost(three, 9, true)).to.equal(null);
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
