import { CONFIDENCE, sumOf as sum, zOf, type Interval } from '../../engine/statistics/intervals.js';

const Z = zOf(CONFIDENCE);

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
