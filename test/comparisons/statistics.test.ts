import { expect } from 'chai';
import fc from 'fast-check';
import { binomialDraws } from '../../src/engine/statistics/binomial.js';
import { bootstrapMean, bootstrapRatio } from '../../src/engine/statistics/bootstrap.js';
import { stuartMaxwell } from '../../src/engine/statistics/categories.js';
import { holm } from '../../src/engine/statistics/holm.js';
import type { Interval } from '../../src/engine/statistics/intervals.js';
import { valueAt } from '../../src/engine/statistics/order.js';
import { mcNemar, newcombe } from '../../src/engine/statistics/paired-proportions.js';
import { detectable, rowsFor } from '../../src/engine/statistics/power.js';
import { RandomBits } from '../../src/engine/statistics/random-bits.js';
import { resampledSums } from '../../src/engine/statistics/resamples.js';
import { signFlipTest } from '../../src/engine/statistics/sign-flip.js';

const numbers = (count: number, draw: () => number) => Float64Array.from({ length: count }, draw);
const deviationOf = (values: Float64Array) => {
  const middle = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / values.length);
};

describe('the value at a place in order', () => {
  it('is that of the sorted values, with equal ones among them', () => {
    const values = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ noNaN: true })), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.nat(), (given, any) => {
        const place = any % given.length;
        const sorted = Float64Array.from(given).sort();
        // -0 and 0 are equal.
        return (sorted[place] ?? NaN) + 0 === valueAt(Float64Array.from(given), place) + 0;
      }),
    );
  });
});

describe('statistics of comparisons', () => {
  // R. G. Newcombe, Statistics in Medicine 17 (1998) 2635–2650; D. G. Altman and others, Statistics with Confidence (2000),
  // table 6.2; and the example of 412 pairs by which Spanhouse's comparisons were specified.
  const published = [
    [36, 12, 2, 0, 0.0569, 0.3404, 4],
    [14, 5, 0, 22, 0.01, 0.23, 2],
    [0, 31, 57, 324, -0.108, -0.019, 3],
  ] as const;
  for (const [both, firstOnly, secondOnly, neither, low, high, digits] of published)
    it(`Newcombe's interval of ${both}, ${firstOnly}, ${secondOnly} and ${neither}`, () => {
      const interval = newcombe({ both, firstOnly, secondOnly, neither })!;
      expect(interval.low).to.be.closeTo(low, 0.5001 * 10 ** -digits);
      expect(interval.high).to.be.closeTo(high, 0.5001 * 10 ** -digits);
    });

  it("Newcombe's interval mirrors with the arms, and stays within what is possible", () => {
    const cell = fc.nat(60);
    fc.assert(
      fc.property(cell, cell, cell, cell, (both, one, other, neither) => {
        const interval = newcombe({ both, firstOnly: one, secondOnly: other, neither });
        const mirrored = newcombe({ both, firstOnly: other, secondOnly: one, neither });
        if (both + one + other + neither === 0) return void expect(interval).to.equal(null);
        expect(interval!.low).to.be.closeTo(-mirrored!.high, 1e-12);
        expect(interval!.low).to.be.within(-1.0000001, 1);
        expect(interval!.high).to.be.at.least(interval!.low);
      }),
    );
  });

  it('McNemar of 31 wins and 57 losses, and of none', () => {
    expect(mcNemar(31, 57).midP).to.be.closeTo(0.0055, 5e-5);
    expect(mcNemar(57, 31)).to.deep.equal(mcNemar(31, 57));
    expect(mcNemar(0, 0)).to.deep.equal({ exact: 1, midP: 1 });
    expect(mcNemar(0, 100_000).midP).to.be.within(0, 1e-300);
  });

  it('Stuart and Maxwell of a published table', () => {
    // A. Stuart, Biometrika 42 (1955): distance vision of 7,477 women, right and left eye; χ² = 11.96 of 3.
    const table = [[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]]; // prettier-ignore
    const { chiSquare, degreesOfFreedom, p } = stuartMaxwell(table);
    expect(chiSquare).to.be.closeTo(11.957, 5e-3);
    expect(degreesOfFreedom).to.equal(3);
    expect(p).to.be.closeTo(0.00753, 5e-5);
  });

  it('Stuart and Maxwell of two categories is McNemar without correction, and of unmoved ones says nothing', () => {
    expect(stuartMaxwell([[50, 31], [57, 274]]).chiSquare).to.be.closeTo(26 ** 2 / 88, 1e-12); // prettier-ignore
    expect(stuartMaxwell([[5, 0, 0], [0, 7, 0], [0, 0, 1]])).to.deep.equal({ chiSquare: 0, degreesOfFreedom: 0, p: 1 }); // prettier-ignore
    // Two groups between which nothing moved: the sum of both.
    const apart = stuartMaxwell([[5, 9, 0, 0], [4, 5, 0, 0], [0, 0, 5, 8], [0, 0, 2, 5]]); // prettier-ignore
    expect(apart.chiSquare).to.be.closeTo(25 / 13 + 36 / 10, 1e-9);
    expect(apart.degreesOfFreedom).to.equal(2);
  });

  it('Holm keeps order, and leaves one test as it is', () => {
    expect(holm([0.03])).to.deep.equal([0.03]);
    expect(holm([0.01, 0.04, 0.03])).to.deep.equal([0.03, 0.06, 0.06]);
    expect(holm([])).to.deep.equal([]);
  });

  it('what is detectable, and how many rows show a margin, agree', () => {
    expect(detectable(0.2, 40)).to.be.closeTo(0.198, 5e-4);
    expect(detectable(0.2, rowsFor(0.03, 0.2)!)).to.be.at.most(0.03);
    expect(detectable(0.2, rowsFor(0.03, 0.2)! - 1)).to.be.above(0.03);
    expect(detectable(0, 40)).to.equal(null);
  });

  it('numbers at random are uniform, normal and binomial, and the same for the same seed', () => {
    const random = new RandomBits('seed');
    expect([1, 2, 3].map(() => new RandomBits('seed').bits())).to.deep.equal(
      Array(3).fill(new RandomBits('seed').bits()),
    );
    const counts = new Array<number>(16).fill(0);
    for (let draw = 0; draw < 160_000; draw += 1) counts[random.below(16)]! += 1;
    // χ² of 15 is above 37.7 in one of a thousand cases.
    expect(counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0)).to.be.below(37.7);
    const normal = numbers(100_000, () => random.normal());
    expect(deviationOf(normal)).to.be.closeTo(1, 0.01);
    expect(normal.filter((value) => value > 1.959964).length / normal.length).to.be.closeTo(0.025, 0.0016);
    const draw = binomialDraws(5_000, 0.2, random);
    const drawn = numbers(20_000, draw);
    expect(drawn.reduce((sum, value) => sum + value, 0) / drawn.length).to.be.closeTo(1_000, 0.8);
    expect(deviationOf(drawn)).to.be.closeTo(Math.sqrt(800), 0.6);
  });

  describe('of many rows', () => {
    const random = new RandomBits('many rows');
    const ROWS = 4_000;
    const heavy = numbers(ROWS, () => Math.exp(1.5 * random.normal()));
    const beside = heavy.map((value) => value * Math.exp(random.normal() / 3));
    const thirds = numbers(ROWS, () => (random.below(5) - 2) / 3);
    const few = numbers(ROWS, () => 0).map((zero, row) => (row < 60 ? random.normal() + 0.5 : zero));
    const plain = { drawnRows: Infinity };

    /** Of one and the same distribution, whatever they leave to chance: six of its standard errors of an end. */
    function expectAlike(values: Float64Array, about: (options: object, seed: string) => Interval | null) {
      const ours = about({}, 'ours')!;
      const theirs = about(plain, 'theirs')!;
      const chance = 6 * 0.027 * ((theirs.high - theirs.low) / 3.92);
      expect(ours.low, `of ${values.length}`).to.be.closeTo(theirs.low, chance);
      expect(ours.high).to.be.closeTo(theirs.high, chance);
    }

    for (const [name, values] of Object.entries({ heavy, thirds, few }))
      it(`a mean has the same interval as with each row drawn: ${name}`, () =>
        expectAlike(values, (options, seed) => bootstrapMean(values, { random: new RandomBits(seed), ...options })));

    it('a ratio has the same interval as with each row drawn', () =>
      expectAlike(heavy, (options, seed) =>
        bootstrapRatio(heavy, beside, { random: new RandomBits(seed), ...options }),
      ));

    it('sums have the same mean, deviation and skewness as with each row drawn', () => {
      const [ours] = resampledSums([heavy], new RandomBits('a'));
      const middle = heavy.reduce((sum, value) => sum + value, 0);
      const deviation = deviationOf(heavy) * Math.sqrt(ROWS);
      expect((ours!.reduce((sum, value) => sum + value, 0) / 10_000 - middle) / deviation).to.be.closeTo(0, 0.04);
      expect(deviationOf(ours!) / deviation).to.be.closeTo(1, 0.03);
      const third = (values: Float64Array, centre: number) =>
        values.reduce((sum, value) => sum + (value - centre) ** 3, 0) / values.length;
      const expected = third(heavy, middle / ROWS) / deviationOf(heavy) ** 3 / Math.sqrt(ROWS);
      expect(third(ours!, middle) / deviation ** 3).to.be.closeTo(expected, 0.15);
    });

    it('signs flipped come to the same', () => {
      // The sum of many is normal: 2.2 of its deviations, a probability of 0.0278.
      const many = numbers(50_000, () => random.normal());
      const shift = (2.2 * Math.sqrt(many.length) - many.reduce((sum, value) => sum + value, 0)) / many.length;
      expect(signFlipTest(many.map((value) => value + shift), new RandomBits('flip'))).to.be.closeTo(0.0278, 0.01); // prettier-ignore
    });

    it('takes well under a second of 100,000', () => {
      const [first, second] = [1, 2].map(() => numbers(100_000, () => Math.exp(random.normal()))) as [
        Float64Array,
        Float64Array,
      ];
      const before = process.cpuUsage();
      bootstrapRatio(first, second, { random });
      signFlipTest(first.map((value, row) => value - second[row]!), random); // prettier-ignore
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1e6).to.be.below(1);
    });
  });

  it('intervals of nothing, one and equals', () => {
    const random = new RandomBits('few');
    expect(bootstrapMean(new Float64Array(0), { random })).to.equal(null);
    expect(bootstrapMean(Float64Array.of(3), { random })).to.equal(null);
    expect(bootstrapMean(Float64Array.of(0.1, 0.1, 0.1), { random })!.low).to.be.closeTo(0.1, 1e-15);
    expect(bootstrapRatio(Float64Array.of(1, 2), Float64Array.of(0, 0), { random })).to.equal(null);
    expect(bootstrapRatio(Float64Array.of(1, 2), Float64Array.of(0, 1), { random })).to.equal(null);
  });

  it('a test of no differences is sure, and of a few is exact', () => {
    const random = new RandomBits('few');
    expect(signFlipTest(new Float64Array(9), random)).to.equal(1);
    expect(signFlipTest(Float64Array.of(1, 1, 1, 1, 0, 0), random)).to.equal(2 / 16);
    expect(signFlipTest(Float64Array.of(0.1, 0.2, -0.3), random)).to.equal(1);
  });
});
