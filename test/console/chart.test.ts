import { expect } from 'chai';
import fc from 'fast-check';
import { bucketAt, labelled, linePath, stacked, ticks } from '../../src/console/model/chart.js';

describe('charts over time', () => {
  it('have an axis of round figures that holds the largest value', () => {
    expect(ticks(7)).to.deep.equal({ bottom: 0, top: 7.5, at: [0, 2.5, 5, 7.5] });
    expect(ticks(0)).to.deep.equal({ bottom: 0, top: 1, at: [0] });
    expect(ticks(1, true)).to.deep.equal({ bottom: 0, top: 1, at: [0, 1] });
    expect(ticks(7, true)).to.deep.equal({ bottom: 0, top: 9, at: [0, 3, 6, 9] });
    expect(ticks(0.5, false, -1)).to.deep.equal({ bottom: -1, top: 0.5, at: [-1, -0.5, 0, 0.5] });
    expect(ticks(0, false, -7)).to.deep.equal({ bottom: -7.5, top: 0, at: [-7.5, -5, -2.5, 0] });
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e12, noNaN: true }), (largest) => {
        const { top, at } = ticks(largest);
        expect(top).to.be.at.least(largest * (1 - 1e-9));
        expect(top).to.be.at.most(largest * 3.5);
        expect(at.length).to.be.within(2, 5);
      }),
    );
  });

  it('stack values without gaps, and know the bucket below a place', () => {
    const parts = stacked([
      [1, 2],
      [3, 0],
    ]);
    expect(parts).to.deep.equal([
      [
        { from: 0, to: 1 },
        { from: 1, to: 4 },
      ],
      [
        { from: 0, to: 2 },
        { from: 2, to: 2 },
      ],
    ]);
    expect([-5, 0, 49, 50, 500].map((x) => bucketAt(x, 100, 2))).to.deep.equal([0, 0, 0, 1, 1]);
    expect(labelled(10, 200, 60)).to.deep.equal([0, 4, 8]);
  });

  it('break lines where nothing is known, and show a value between two gaps', () => {
    const axis = { bottom: 0, top: 2 };
    expect(linePath([1, null, 2, 2], axis, 40, 10)).to.equal('M5.0 5.0m-2 0h4M25.0 0.0L35.0 0.0');
    expect(linePath([-2, 2], { ...axis, bottom: -2 }, 20, 10)).to.equal('M5.0 10.0L15.0 0.0');
  });
});
