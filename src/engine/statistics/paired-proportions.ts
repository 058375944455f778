import { CONFIDENCE, wilson, type Interval } from './intervals.js';
import { binomialMass, coinTail } from './binomial.js';

/** What two arms said of the same things, yes or no. */
export interface PairedCounts {
  readonly both: number;
  readonly firstOnly: number;
  readonly secondOnly: number;
  readonly neither: number;
}

/**
 * The interval of the difference of two paired proportions, first minus second; null without data.
 * Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 2635–2650, method 10: the squared distances of Wilson's intervals
 * are added, with the correlation φ, of which half a count is taken off where it is positive.
 */
export function newcombe(counts: PairedCounts, confidence = CONFIDENCE): Interval | null {
  const { both, firstOnly, secondOnly, neither } = counts;
  const count = both + firstOnly + secondOnly + neither;
  const first = wilson(both + firstOnly, count, confidence);
  const second = wilson(both + secondOnly, count, confidence);
  if (first === null || second === null) return null;
  const share1 = (both + firstOnly) / count;
  const share2 = (both + secondOnly) / count;
  const phi = correlation(counts, count);
  const spread = (up: number, down: number) => Math.sqrt(Math.max(0, up * up - 2 * phi * up * down + down * down));
  const difference = share1 - share2;
  return {
    low: difference - spread(share1 - first.low, second.high - share2),
    high: difference + spread(share2 - second.low, first.high - share1),
  };
}

function correlation({ both, firstOnly, secondOnly, neither }: PairedCounts, count: number): number {
  const product =
    Math.sqrt(both + firstOnly) *
    Math.sqrt(secondOnly + neither) *
    Math.sqrt(both + secondOnly) *
    Math.sqrt(firstOnly + neither);
  if (product === 0) return 0;
  const excess = both * neither - firstOnly * secondOnly;
  return (excess > 0 ? Math.max(0, excess - count / 2) : excess) / product;
}

export interface McNemar {
  /** Two-sided, of the binomial distribution. */
  readonly exact: number;
  /** The same, of which what was found itself counts half: less cautious, and never far above its level. */
  readonly midP: number;
}

/**
 * McNemar's test of pairs that differ.
 * Source: M. W. Fagerland, S. Lydersen, P. Laake, BMC Medical Research Methodology 13 (2013) 91, equations 2 and 5.
 */
export function mcNemar(firstOnly: number, secondOnly: number): McNemar {
  const fewer = Math.min(firstOnly, secondOnly);
  const count = firstOnly + secondOnly;
  if (firstOnly === secondOnly) return { exact: 1, midP: count === 0 ? 1 : 1 - binomialMass(fewer, count, 0.5) / 2 };
  const exact = 2 * coinTail(fewer, count);
  return { exact: Math.min(1, exact), midP: exact - binomialMass(fewer, count, 0.5) };
}
