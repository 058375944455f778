import { expect } from 'chai';
import fc from 'fast-check';
import { mean, wilson } from '../../src/engine/statistics/intervals.js';
import { cohensKappa } from '../../src/features/calibration/statistics.js';

describe('statistics of calibration', () => {
  // R. G. Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998), table I.
  const newcombe = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const;
  for (const [successes, count, low, high] of newcombe)
    it(`Wilson's interval of ${successes} in ${count}`, () => {
      const interval = wilson(successes, count)!;
      expect(interval.low).to.be.closeTo(low, 5e-5);
      expect(interval.high).to.be.closeTo(high, 5e-5);
    });

  it('an interval of nothing is none, and one of everything ends at 1', () => {
    expect(wilson(0, 0)).to.equal(null);
    expect(wilson(7, 7)!.high).to.equal(1);
  });

  it("Cohen's κ of a published table of two classes", () => {
    // Wikipedia, "Cohen's kappa", simple example: 20, 5, 10, 15 of 50; κ = 0.4. The error is worked out below by hand:
    // rows .5 .5, columns .6 .4, chance .5; A = .4(1-.66)² + .3(1-.54)², B = .36(.1·1.1² + .2·.9²), C = (.4-.3)².
    const kappa = cohensKappa([
      [20, 5],
      [10, 15],
    ])!;
    expect(kappa.value).to.be.closeTo(0.4, 1e-12);
    const error = Math.sqrt(
      (0.4 * 0.34 ** 2 + 0.3 * 0.46 ** 2 + 0.36 * (0.1 * 1.1 ** 2 + 0.2 * 0.9 ** 2) - 0.01) / 12.5,
    );
    expect(kappa.interval!.low).to.be.closeTo(0.4 - 1.959964 * error, 1e-6);
    expect(kappa.interval!.high).to.be.closeTo(0.4 + 1.959964 * error, 1e-6);
  });

  it("Cohen's κ and its error of a published table of three classes", () => {
    // J. L. Fleiss, B. Levin, M. C. Paik, Statistical Methods for Rates and Proportions, chapter 18: two raters of 100
    // patients; κ = 0.68, standard error 0.087.
    const kappa = cohensKappa([
      [75, 1, 4],
      [5, 4, 1],
      [0, 0, 10],
    ])!;
    expect(kappa.value).to.be.closeTo(0.676, 5e-4);
    expect((kappa.interval!.high - kappa.interval!.low) / 2 / 1.959964).to.be.closeTo(0.087, 1e-3);
  });

  it('κ is not defined of nothing and of one class; perfect agreement has no large-sample interval', () => {
    expect(cohensKappa([[0, 0], [0, 0]])).to.equal(null); // prettier-ignore
    expect(cohensKappa([[9, 0], [0, 0]])).to.equal(null); // prettier-ignore
    expect(cohensKappa([[5, 0], [0, 4]])).to.deep.equal({ value: 1, interval: null }); // prettier-ignore
    // One class by one rater alone is defined: agreement as by chance.
    expect(cohensKappa([[5, 4], [0, 0]])?.value).to.equal(0); // prettier-ignore
  });

  it('κ never leaves -1…1, whatever is counted', () => {
    const cell = fc.nat(50);
    fc.assert(
      fc.property(cell, cell, cell, cell, (a, b, c, d) => {
        const kappa = cohensKappa([[a, b], [c, d]]); // prettier-ignore
        if (kappa === null) return;
        const { value, interval } = kappa;
        expect(value).to.be.within(-1, 1);
        if (interval !== null) expect(value).to.be.within(interval.low, interval.high);
      }),
    );
  });

  it('the mean of paired differences, as published', () => {
    // Student (1908), The probable error of a mean, Biometrika 6: additional hours of sleep, differences of two drugs in
    // ten patients; mean 1.58, 95 % interval 0.70 to 2.46 (R: t.test(extra ~ group, data = sleep, paired = TRUE)).
    const differences = [1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4];
    const found = mean(differences);
    expect(found.value).to.be.closeTo(1.58, 1e-9);
    expect(found.interval!.low).to.be.closeTo(0.7001142, 1e-6);
    expect(found.interval!.high).to.be.closeTo(2.4598858, 1e-6);
  });

  it('means of nothing, of one and of equals have no interval', () => {
    expect(mean([])).to.deep.equal({ count: 0, value: null, standard_error: null, interval: null });
    expect(mean([3])).to.deep.equal({ count: 1, value: 3, standard_error: null, interval: null });
    expect(mean([3, 3, 3])).to.deep.equal({ count: 3, value: 3, standard_error: null, interval: null });
  });
});
