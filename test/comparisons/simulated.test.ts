import { expect } from 'chai';
import { RandomBits } from '../../src/engine/statistics/random-bits.js';
import { detectable } from '../../src/engine/statistics/power.js';
import type { PairedMetric } from '../../src/features/comparisons/comparison.js';
import { outcomeOf } from '../../src/features/comparisons/outcome.js';
import { metric } from './paired.js';

type Draw = (random: RandomBits) => readonly [candidate: number, baseline: number];

const RUNS = 2_000;

/** A comparison of rows that are drawn alike. */
function drawn(rows: number, draw: Draw, random: RandomBits, measure: 'boolean' | 'number'): PairedMetric {
  const { min: _min, max: _max, ...known } = metric('score', { measure });
  const arms = { candidate: new Float64Array(rows), baseline: new Float64Array(rows) };
  for (let row = 0; row < rows; row += 1) [arms.candidate[row], arms.baseline[row]] = draw(random) as [number, number];
  const left_out = { no_value: 0, error: 0 };
  return { ...known, ...arms, rows: Int32Array.from(arms.candidate.keys()), single: measure === 'boolean', categories: [], left_out, tooLarge: new Int32Array() }; // prettier-ignore
}

/** How many of so many comparisons fail. */
function failures(runs: number, seed: string, draws: () => PairedMetric[]): number {
  let failed = 0;
  for (let run = 0; run < runs; run += 1) {
    const paired = { seed: `${seed} ${run}`, confidence: 0.95, slicings: [], metrics: draws() };
    if (outcomeOf(paired, 500).verdict === 'failed') failed += 1;
  }
  return failed;
}

/** A share of yes, and of rows that change beside what gets worse. */
const answers =
  (rate: number, noise: number, drop = 0): Draw =>
  (random) => {
    const before = random.share() < rate;
    const redrawn = random.share() < noise ? random.share() < rate : before;
    return [Number(redrawn && random.share() >= drop), Number(before)];
  };

describe('simulated comparisons', function () {
  this.timeout(60_000);

  // 2.5 % of 2,000 are 50; three standard deviations more are 71.
  for (const rows of [20, 60, 412])
    it(`${RUNS} of the same subject twice, on ${rows} rows: no more false alarms than promised`, () => {
      const random = new RandomBits(`A/A ${rows}`);
      expect(failures(RUNS, 'a', () => [drawn(rows, answers(0.8, 0.4), random, 'boolean')])).to.be.at.most(71);
    });

  it('the same of numbers, of few rows and skewed ones', () => {
    const random = new RandomBits('A/A numbers');
    const skewed: Draw = (bits) => {
      const base = bits.normal();
      return [Math.exp(base + bits.normal() / 2), Math.exp(base + bits.normal() / 2)];
    };
    for (const rows of [8, 40])
      expect(
        failures(RUNS, 'n', () => [drawn(rows, skewed, random, 'number')]),
        `${rows} rows`,
      ).to.be.at.most(71);
  });

  it('the same of five gated metrics together', () => {
    const random = new RandomBits('A/A five');
    const five = () => Array.from({ length: 5 }, () => drawn(100, answers(0.7, 0.5), random, 'boolean'));
    expect(failures(RUNS, 'five', five)).to.be.at.most(71);
  });

  for (const drop of [0.05, 0.1])
    it(`a drop of ${drop * 100} points is found as often as the rows allow`, () => {
      const random = new RandomBits(`drop ${drop}`);
      const rate = 0.8;
      const draw = answers(rate, 0.2, drop / rate);
      // The share of rows that change, and so how many rows show this drop in four of five cases.
      const many = drawn(200_000, draw, random, 'boolean');
      const changed = many.candidate.filter((value, row) => value !== many.baseline[row]).length / 200_000;
      let rows = 10;
      while (detectable(changed, rows)! > drop) rows += 1;
      const found = failures(1_000, 'drop', () => [drawn(rows, draw, random, 'boolean')]) / 1_000;
      expect(found, `of ${rows} rows`).to.be.within(0.75, 0.87);
    });
});
