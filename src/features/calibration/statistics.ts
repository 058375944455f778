import jStat from 'jstat';

/** A range that holds the true value with the confidence below. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Confidence of every interval that is reported. */
export const CONFIDENCE = 0.95;
const UPPER = (1 + CONFIDENCE) / 2;
const Z = jStat.normal.inv(UPPER, 0, 1);

/**
 * The interval of a proportion: Wilson's score interval, without continuity correction; null without data.
 * Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 857–872, method 3.
 */
export function wilson(successes: number, count: number): Interval | null {
  if (count === 0) return null;
  const share = successes / count;
  const zz = Z * Z;
  const centre = share + zz / (2 * count);
  const spread = Z * Math.sqrt((share * (1 - share)) / count + zz / (4 * count * count));
  const scale = 1 + zz / count;
  // The bounds for no and only successes are exactly 0 and 1, which rounding would miss.
  return {
    low: successes === 0 ? 0 : (centre - spread) / scale,
    high: successes === count ? 1 : (centre + spread) / scale,
  };
}

export interface Kappa {
  readonly value: number;
  /** Large-sample interval, cut to -1…1; null where its standard error is 0, as when both agree about everything. */
  readonly interval: Interval | null;
}

/**
 * Cohen's κ of two raters, with its interval. `table[i][j]`: how often one chose i and the other j.
 * Null when it is not defined: no data, or both chose one and the same class throughout.
 * Source: J. L. Fleiss, J. Cohen, B. S. Everitt, Psychological Bulletin 72 (1969) 323–327, the standard error that does
 * not assume κ = 0.
 */
export function cohensKappa(table: readonly (readonly number[])[]): Kappa | null {
  const size = table.length;
  const count = sum(table.map(sum));
  if (count === 0) return null;
  const classes = Array.from({ length: size }, (_, index) => index);
  const share = (i: number, j: number) => (table[i]?.[j] ?? 0) / count;
  const rows = classes.map((i) => sum(classes.map((j) => share(i, j))));
  const columns = classes.map((j) => sum(classes.map((i) => share(i, j))));
  const at = (values: readonly number[], index: number) => values[index] ?? 0;
  const chance = sum(classes.map((i) => at(rows, i) * at(columns, i)));
  if (1 - chance < Number.EPSILON) return null;
  const value = (sum(classes.map((i) => share(i, i))) - chance) / (1 - chance);

  const rest = 1 - value;
  const agreeing = sum(classes.map((i) => share(i, i) * (1 - (at(rows, i) + at(columns, i)) * rest) ** 2));
  const differing = sum(
    classes.flatMap((i) =>
      classes.map((j) => (i === j ? 0 : share(i, j) * rest ** 2 * (at(columns, i) + at(rows, j)) ** 2)),
    ),
  );
  const variance = (agreeing + differing - (value - chance * rest) ** 2) / (count * (1 - chance) ** 2);
  // A variance this small is left by rounding: there is none.
  if (variance < 1e-12) return { value, interval: null };
  const spread = Z * Math.sqrt(variance);
  return { value, interval: { low: Math.max(-1, value - spread), high: Math.min(1, value + spread) } };
}

export interface Mean {
  readonly count: number;
  /** Mean; null without values. */
  readonly value: number | null;
  /** Student's t interval; null of fewer than two values, or when all are equal. */
  readonly interval: Interval | null;
}

/** The mean of values, with its interval. Of paired differences it is that of the paired t-test. */
export function mean(values: readonly number[]): Mean {
  const count = values.length;
  if (count === 0) return { count, value: null, interval: null };
  const value = sum(values) / count;
  if (count < 2) return { count, value, interval: null };
  const deviation = Math.sqrt(sum(values.map((each) => (each - value) ** 2)) / (count - 1));
  if (deviation < 1e-12 * Math.max(1, Math.abs(value))) return { count, value, interval: null };
  const spread = (jStat.studentt.inv(UPPER, count - 1) * deviation) / Math.sqrt(count);
  return { count, value, interval: { low: value - spread, high: value + spread } };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
