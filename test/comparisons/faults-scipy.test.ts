import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { bootstrapMean, bootstrapRatio } from '../../src/engine/statistics/bootstrap.js';
import { stuartMaxwell } from '../../src/engine/statistics/categories.js';
import { holm } from '../../src/engine/statistics/holm.js';
import { mean, wilson } from '../../src/engine/statistics/intervals.js';
import { mcNemar, newcombe, type PairedCounts } from '../../src/engine/statistics/paired-proportions.js';
import { detectable } from '../../src/engine/statistics/power.js';
import { RandomBits } from '../../src/engine/statistics/random-bits.js';
import { resampledSums } from '../../src/engine/statistics/resamples.js';
import { signFlipTest } from '../../src/engine/statistics/sign-flip.js';
import { pythonWith, requireInstalled } from '../harness/foreign-packages.js';

const SCIPY = '1.16.3';
const STATSMODELS = '0.14.5';
const { python: PYTHON, install } = pythonWith({
  folder: `spanhouse-test-scipy-${SCIPY}`,
  packages: [`scipy==${SCIPY}`, `statsmodels==${STATSMODELS}`],
  check: 'import scipy, statsmodels',
});

/** What SciPy and statsmodels say of the same. Resamples are handed over, so that both count the same ones. */
const PROGRAM = `
import json, sys
import numpy as np
from scipy import stats
from scipy.stats._resampling import BootstrapResult
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.contingency_tables import SquareTable, mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import normal_power_het

def wilson(k, n, conf):
    return list(proportion_confint(k, n, alpha=1 - conf, method="wilson"))

def newcombe(a, b, c, d, conf):
    n = a + b + c + d
    p1, p2 = (a + b) / n, (a + c) / n
    (l1, u1), (l2, u2) = wilson(a + b, n, conf), wilson(a + c, n, conf)
    marginals = float(a + b) * (c + d) * (a + c) * (b + d)
    excess = a * d - b * c
    phi = 0 if marginals == 0 else (max(excess - n / 2, 0) if excess > 0 else excess) / np.sqrt(marginals)
    root = lambda up, down: np.sqrt(up**2 - 2 * phi * up * down + down**2)
    return [p1 - p2 - root(p1 - l1, u2 - p2), p1 - p2 + root(p2 - l2, u1 - p1)]

def midp(b, c):
    return mcnemar([[0, b], [c, 0]], exact=True).pvalue - (stats.binom.pmf(min(b, c), b + c, 0.5) if b != c else stats.binom.pmf(b, b + c, 0.5) / 2)

def bca(values, resampled, statistic, paired=False):
    given = BootstrapResult(confidence_interval=None, bootstrap_distribution=np.array(resampled), standard_error=None)
    interval = stats.bootstrap([np.array(v) for v in values], statistic, paired=paired, vectorized=True, n_resamples=0,
        bootstrap_result=given, method="BCa").confidence_interval
    return [interval.low, interval.high]

mean = lambda x, axis: np.mean(x, axis=axis)
ratio = lambda x, y, axis: np.sum(x, axis=axis) / np.sum(y, axis=axis)

def tinterval(values):
    return list(stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=stats.sem(values)))

def flip(values):
    return stats.permutation_test([np.array(values), np.zeros(len(values))], lambda x, y, axis: np.sum(x - y, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=np.inf).pvalue

asked = json.load(sys.stdin)
square = SquareTable(np.array(asked["table"]), shift_zeros=False).homogeneity(method="stuart_maxwell")
print(json.dumps({
    "wilson": [wilson(*each) for each in asked["wilson"]],
    "newcombe": [newcombe(*each) for each in asked["newcombe"]],
    "exact": [mcnemar([[0, b], [c, 0]], exact=True).pvalue for b, c in asked["moved"]],
    "midP": [midp(b, c) for b, c in asked["moved"]],
    "t": [tinterval(each) for each in asked["values"]],
    "mean": [bca([values], resampled, mean) for values, resampled in zip(asked["values"], asked["resampledMeans"])],
    "ratio": bca([asked["above"], asked["below"]], asked["resampledRatios"], ratio, True),
    "flip": [flip(each) for each in asked["few"]],
    "maxwell": [square.statistic, int(square.df), square.pvalue],
    "holm": list(multipletests(asked["probabilities"], method="holm")[1]),
    # Of a normal test of one sample, without its other side: the effect that has a power of 0.8.
    "power": [float(normal_power_het(detected, n, 0.05, std_null=sd)) for detected, n, sd in asked["power"]],
}))
`;

async function ask(asked: unknown): Promise<any> {
  const child = spawn(PYTHON, ['-c', PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(asked));
  let output = '';
  for await (const chunk of child.stdout) output += String(chunk);
  return JSON.parse(output);
}

const random = new RandomBits('cases for SciPy');
const numbers = (count: number, draw: () => number) => Float64Array.from({ length: count }, draw);
const WILSON: [number, number, number][] = [[0, 20, 0.95], [7, 20, 0.9], [81, 263, 0.95], [99_000, 100_000, 0.99], [20, 20, 0.8]]; // prettier-ignore
const NEWCOMBE = [[36, 12, 2, 0], [14, 5, 0, 22], [50, 31, 57, 274], [0, 0, 0, 40], [3, 9, 1, 1], [60_000, 4_000, 3_500, 32_500]]; // prettier-ignore
const MOVED: [number, number][] = [[31, 57], [0, 6], [1, 0], [5, 5], [40_000, 40_800], [30_000, 30_001]]; // prettier-ignore
const VALUES = [
  numbers(12, () => random.normal()),
  numbers(300, () => Math.exp(random.normal())),
  numbers(5_000, () => random.normal() ** 3),
];
const ABOVE = numbers(400, () => Math.exp(random.normal()));
const BELOW = ABOVE.map((value) => value * Math.exp(random.normal() / 3));
const FEW = [6, 11, 14].map((count) => numbers(count, () => random.normal() + 0.4));
const TABLE = [[20, 10, 5], [3, 30, 15], [0, 5, 40]]; // prettier-ignore
const PROBABILITIES = [0.01, 0.04, 0.03, 0.005, 0.5];
const countsOf = ([both, firstOnly, secondOnly, neither]: readonly number[]) =>
  ({ both, firstOnly, secondOnly, neither }) as PairedCounts;

describe(`statistics of comparisons, beside SciPy ${SCIPY} and statsmodels ${STATSMODELS}`, function () {
  this.timeout(240_000);
  // The same seed draws the same rows.
  const seeded = () => new RandomBits('resamples');
  const resampledMeans = VALUES.map((values) =>
    resampledSums([values], seeded())[0]!.map((sum) => sum / values.length),
  );
  const [above, below] = resampledSums([ABOVE, BELOW], seeded()) as [Float64Array, Float64Array];
  const resampledRatios = above.map((sum, index) => sum / below[index]!);
  const variance = 0.2136;
  let theirs: any;

  before(async function () {
    await requireInstalled(this, install());
    const lists = (all: readonly Float64Array[]) => all.map((each) => [...each]);
    theirs = await ask({
      wilson: WILSON,
      newcombe: NEWCOMBE.map((counts) => [...counts, 0.95]),
      moved: MOVED,
      values: lists(VALUES),
      resampledMeans: lists(resampledMeans),
      above: [...ABOVE],
      below: [...BELOW],
      resampledRatios: [...resampledRatios],
      few: lists(FEW),
      table: TABLE,
      probabilities: PROBABILITIES,
      power: [40, 412].map((count) => [detectable(variance, count)!, count, Math.sqrt(variance)]),
    });
  });

  /** Relative where it is small, as probabilities are. */
  function expectClose(ours: readonly number[], expected: readonly number[]) {
    expect(ours).to.have.length(expected.length);
    for (const [index, value] of expected.entries())
      expect(ours[index]).to.be.closeTo(value, 1e-6 * Math.max(1e-3, Math.min(1, Math.abs(value))));
  }
  const ends = (interval: { readonly low: number; readonly high: number } | null) => [interval!.low, interval!.high];

  it('Wilson', () => WILSON.forEach((each, index) => expectClose(ends(wilson(...each)), theirs.wilson[index])));
  it('Newcombe', () =>
    NEWCOMBE.forEach((each, index) => expectClose(ends(newcombe(countsOf(each))), theirs.newcombe[index])));
  it('McNemar, exact and mid-p', () => {
    expectClose(MOVED.map((each) => mcNemar(...each).exact), theirs.exact); // prettier-ignore
    expectClose(MOVED.map((each) => mcNemar(...each).midP), theirs.midP); // prettier-ignore
  });
  it("Student's interval", () =>
    VALUES.forEach((each, index) => expectClose(ends(mean(each).interval), theirs.t[index])));
  it('BCa of a mean, of the same resamples', () =>
    VALUES.forEach((values, index) =>
      expectClose(ends(bootstrapMean(values, { random: seeded() })), theirs.mean[index]),
    ));
  it('BCa of a ratio of sums, of the same resamples', () =>
    expectClose(ends(bootstrapRatio(ABOVE, BELOW, { random: seeded() })), theirs.ratio));
  it('signs flipped in every way', () => expectClose(FEW.map((each) => signFlipTest(each, random)), theirs.flip)); // prettier-ignore
  it('Stuart and Maxwell', () => {
    const { chiSquare, degreesOfFreedom, p } = stuartMaxwell(TABLE);
    expectClose([chiSquare, degreesOfFreedom, p], theirs.maxwell);
  });
  it('Holm', () => expectClose(holm(PROBABILITIES), theirs.holm));
  it('what is detectable has a power of four in five', () => {
    for (const power of theirs.power) expect(power).to.be.closeTo(0.8, 1e-4);
  });
});
