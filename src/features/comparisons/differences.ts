import { bootstrapMean, bootstrapRatio } from '../../engine/statistics/bootstrap.js';
import { mean, squaresAbout, sumOf, type Interval } from '../../engine/statistics/intervals.js';
import { mcNemar, newcombe, type PairedCounts } from '../../engine/statistics/paired-proportions.js';
import type { RandomBits } from '../../engine/statistics/random-bits.js';
import { signFlipTest } from '../../engine/statistics/sign-flip.js';
import type { Changed, Difference, Direction, PairedMetric, TestName } from './comparison.js';

/** How two arms differ in a metric. */
export interface Differing {
  readonly difference: Difference | null;
  readonly test: TestName | null;
  readonly p: number | null;
  /** Of the difference of one row, in its unit. */
  readonly variance: number;
}

type Arms = Pick<PairedMetric, 'candidate' | 'baseline' | 'measure' | 'single'>;

interface Options {
  readonly confidence: number;
  readonly random: RandomBits;
  readonly resamples?: number | undefined;
}

/** The difference of numbers, booleans or sums, with its interval and test. */
export function differing(arms: Arms, { confidence, random, resamples }: Options): Differing {
  const { candidate, baseline, measure } = arms;
  const rows = candidate.length;
  if (rows === 0) return { difference: null, test: null, p: null, variance: 0 };
  const differences = differencesOf(arms);
  const value = sumOf(differences) / rows;
  if (isPaired(arms)) {
    const counts = countsOf(arms);
    const p = mcNemar(counts.firstOnly, counts.secondOnly).midP;
    const difference = { value, interval: newcombe(counts, confidence), relative: false };
    return { difference, test: 'mcnemar_mid_p', p, variance: (counts.firstOnly + counts.secondOnly) / rows };
  }
  const options = { confidence, random, resamples };
  const p = signFlipTest(differences, random, resamples);
  if (measure === 'sum') {
    const interval = minusOne(bootstrapRatio(candidate, baseline, options));
    return { difference: relativeOf(arms, interval), test: 'sign_flip', p, variance: meanSquare(influences(arms)) };
  }
  const interval = bootstrapMean(differences, options);
  const difference = { value, interval, relative: false };
  return { difference, test: 'sign_flip', p, variance: squaresAbout(differences, value) / rows };
}

/** The same of a part of the rows, by formulas alone: slices are many, and gate nothing. */
export function differingOfSlice(arms: Arms, confidence: number): Difference | null {
  const differences = differencesOf(arms);
  const { value, interval } = mean(differences, confidence);
  if (value === null) return null;
  if (isPaired(arms)) return { value, interval: newcombe(countsOf(arms), confidence), relative: false };
  if (arms.measure !== 'sum') return { value, interval, relative: false };
  // The ratio is as linear in its rows as the delta method has it.
  const { interval: about } = mean(influences(arms), confidence);
  const ratio = sumOf(arms.candidate) / sumOf(arms.baseline) - 1;
  return relativeOf(arms, about === null ? null : { low: ratio + about.low, high: ratio + about.high });
}

/** Rows by what became of them. */
export function changedOf(
  { candidate, baseline }: Pick<Arms, 'candidate' | 'baseline'>,
  direction: Direction,
): Changed {
  let wins = 0;
  let losses = 0;
  for (let row = 0; row < candidate.length; row += 1) {
    const outcome = outcomeOf(candidate[row] ?? 0, baseline[row] ?? 0, direction);
    if (outcome === 'win') wins += 1;
    else if (outcome === 'loss') losses += 1;
  }
  return { wins, losses, ties: candidate.length - wins - losses };
}

export function outcomeOf(candidate: number, baseline: number, direction: Direction): 'win' | 'loss' | 'tie' {
  if (candidate === baseline) return 'tie';
  return candidate > baseline === (direction === 'higher') ? 'win' : 'loss';
}

/** Whether each row says yes or no in each arm. */
const isPaired = ({ measure, single }: Arms) => measure === 'boolean' && single;

const differencesOf = ({ candidate, baseline }: Arms) => candidate.map((value, row) => value - (baseline[row] ?? 0));

function countsOf({ candidate, baseline }: Arms): PairedCounts {
  const counts = { both: 0, firstOnly: 0, secondOnly: 0, neither: 0 };
  for (let row = 0; row < candidate.length; row += 1) {
    const [first, second] = [candidate[row] === 1, baseline[row] === 1];
    counts[first ? (second ? 'both' : 'firstOnly') : second ? 'secondOnly' : 'neither'] += 1;
  }
  return counts;
}

/** By how much each row moves the ratio of the sums, times the number of rows. */
function influences({ candidate, baseline }: Arms): Float64Array {
  const ratio = sumOf(candidate) / sumOf(baseline);
  const each = sumOf(baseline) / baseline.length;
  return candidate.map((value, row) => (value - ratio * (baseline[row] ?? 0)) / each);
}

/** Null where the baseline has nothing to be a share of. */
function relativeOf({ candidate, baseline }: Arms, interval: Interval | null): Difference | null {
  const value = sumOf(candidate) / sumOf(baseline) - 1;
  return Number.isFinite(value) ? { value, interval, relative: true } : null;
}

const minusOne = (ratio: Interval | null) => (ratio === null ? null : { low: ratio.low - 1, high: ratio.high - 1 });

function meanSquare(values: Float64Array): number {
  const square = squaresAbout(values, 0) / values.length;
  return Number.isFinite(square) ? square : 0;
}
