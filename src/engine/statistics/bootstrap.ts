import { CONFIDENCE, normalQuantile, normalShare, sumOf, type Interval } from './intervals.js';
import type { RandomBits } from './random-bits.js';
import { resampledSums, type ResampleOptions } from './resamples.js';

export interface BootstrapOptions extends ResampleOptions {
  readonly random: RandomBits;
  readonly confidence?: number | undefined;
}

/** The BCa interval of the mean of values, such as paired differences; null of fewer than two. Of equal ones it is a point. */
export function bootstrapMean(
  values: Float64Array,
  { random, confidence, ...options }: BootstrapOptions,
): Interval | null {
  const rows = values.length;
  if (rows < 2) return null;
  const sum = sumOf(values);
  const [sums] = resampledSums([values], random, options);
  // The mean without a row lies as far from that with it as the row does, except for a factor.
  const left = values.map((value) => value - sum / rows);
  return bca({ resampled: sums ?? values, estimate: sum, acceleration: accelerationOf(left), confidence }, 1 / rows);
}

/** The BCa interval of the ratio of two sums over the same rows; null of fewer than two, or where it is not defined. */
export function bootstrapRatio(
  above: Float64Array,
  below: Float64Array,
  { random, confidence, ...options }: BootstrapOptions,
): Interval | null {
  const rows = above.length;
  const estimate = sumOf(above) / sumOf(below);
  if (rows < 2 || !Number.isFinite(estimate)) return null;
  const [sumsAbove = above, sumsBelow = below] = resampledSums([above, below], random, options);
  const resampled = sumsAbove.map((sum, index) => sum / (sumsBelow[index] ?? 0));
  // Resamples in which nothing lies below: so few rows say nothing about a ratio.
  if (resampled.some((ratio) => !Number.isFinite(ratio))) return null;
  return bca({ resampled, estimate, acceleration: accelerationOf(ratiosWithout(above, below)), confidence });
}

/** By how much the ratio is lower without each row, about its mean. */
function ratiosWithout(above: Float64Array, below: Float64Array): Float64Array {
  const [sumAbove, sumBelow] = [sumOf(above), sumOf(below)];
  const without = above.map((value, row) => (sumAbove - value) / (sumBelow - (below[row] ?? 0)));
  const middle = sumOf(without) / without.length;
  return without.map((ratio) => middle - ratio);
}

/** Of the jackknife's values, each as the mean of all minus itself. */
function accelerationOf(values: Float64Array): number {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  // Its powers of 3 would have no end, or be nothing; the size of the unit does not matter.
  const left = largest > 1e60 || (largest > 0 && largest < 1e-60) ? values.map((value) => value / largest) : values;
  const squares = sumOf(left.map((value) => value ** 2));
  return squares === 0 ? 0 : sumOf(left.map((value) => value ** 3)) / (6 * squares ** 1.5);
}

interface Resampled {
  readonly resampled: Float64Array;
  readonly estimate: number;
  readonly acceleration: number;
  readonly confidence?: number | undefined;
}

/**
 * The bias-corrected and accelerated interval of what was resampled, scaled by a factor.
 * Source: B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap (1993), 14.3.
 */
export function bca({ resampled, estimate, acceleration, confidence = CONFIDENCE }: Resampled, factor = 1): Interval {
  const sorted = resampled.slice().sort();
  const bias = normalQuantile(shareBelow(sorted, estimate));
  const end = (share: number) => {
    const shifted = bias + normalQuantile(share);
    return quantileOf(sorted, normalShare(bias + shifted / (1 - acceleration * shifted))) * factor;
  };
  return { low: end((1 - confidence) / 2), high: end((1 + confidence) / 2) };
}

/** The share of resamples below the estimate, of equal ones half; never none or all, of which no bias can be told. */
function shareBelow(sorted: Float64Array, estimate: number): number {
  const tolerance = 1e-12 * Math.max(Math.abs(sorted[0] ?? 0), Math.abs(sorted.at(-1) ?? 0));
  let doubled = 0;
  for (const value of sorted) {
    if (value < estimate - tolerance) doubled += 2;
    else if (value <= estimate + tolerance) doubled += 1;
  }
  const share = doubled / (2 * sorted.length);
  return Math.min(1 - 0.5 / sorted.length, Math.max(0.5 / sorted.length, share));
}

/** Of sorted values, between two in proportion. */
export function quantileOf(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  const below = sorted[low] ?? 0;
  const above = sorted[Math.min(low + 1, sorted.length - 1)] ?? below;
  return below + (above - below) * (place - low);
}
