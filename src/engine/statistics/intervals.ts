import jStat from 'jstat';

/** A range that holds the true value with a confidence. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Confidence of every interval, unless another is asked for. */
export const CONFIDENCE = 0.95;

/** The value below which a share of the standard normal distribution lies. */
export function normalQuantile(share: number): number {
  return jStat.normal.inv(share, 0, 1);
}

/** The share of the standard normal distribution below a value. */
export function normalShare(value: number): number {
  return jStat.normal.cdf(value, 0, 1);
}

/** Standard errors from the middle of a two-sided interval to its ends. */
export function zOf(confidence: number): number {
  return normalQuantile((1 + confidence) / 2);
}

/**
 * The interval of a proportion: Wilson's score interval, without continuity correction; null without data.
 * Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 857–872, method 3.
 */
export function wilson(successes: number, count: number, confidence = CONFIDENCE): Interval | null {
  if (count === 0) return null;
  const z = zOf(confidence);
  const share = successes / count;
  const zz = z * z;
  const centre = share + zz / (2 * count);
  const spread = z * Math.sqrt((share * (1 - share)) / count + zz / (4 * count * count));
  const scale = 1 + zz / count;
  // The bounds for no and only successes are exactly 0 and 1, which rounding would miss.
  return {
    low: successes === 0 ? 0 : (centre - spread) / scale,
    high: successes === count ? 1 : (centre + spread) / scale,
  };
}

export interface Mean {
  readonly count: number;
  /** Mean; null without values. */
  readonly value: number | null;
  /** Of the mean; null of fewer than two values, or when all are equal. */
  readonly standard_error: number | null;
  /** Student's t interval; null where the error is. */
  readonly interval: Interval | null;
}

/** The mean of values, with its interval. Of paired differences it is that of the paired t-test. */
export function mean(values: ArrayLike<number>, confidence = CONFIDENCE): Mean {
  const count = values.length;
  if (count === 0) return { count, value: null, standard_error: null, interval: null };
  const value = sumOf(values) / count;
  if (count < 2) return { count, value, standard_error: null, interval: null };
  const deviation = Math.sqrt(squaresAbout(values, value) / (count - 1));
  if (deviation < 1e-12 * Math.max(1, Math.abs(value))) return { count, value, standard_error: null, interval: null };
  const standard_error = deviation / Math.sqrt(count);
  const spread = jStat.studentt.inv((1 + confidence) / 2, count - 1) * standard_error;
  return { count, value, standard_error, interval: { low: value - spread, high: value + spread } };
}

export function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < values.length; index += 1) sum += values[index] ?? 0;
  return sum;
}

/** Sum of the squared distances from a value. */
export function squaresAbout(values: ArrayLike<number>, middle: number): number {
  let sum = 0;
  for (let index = 0; index < values.length; index += 1) sum += ((values[index] ?? 0) - middle) ** 2;
  return sum;
}
