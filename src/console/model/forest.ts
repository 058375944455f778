import type { ComparisonRead } from '../../features/comparisons/schema.js';

export type ComparedMetric = ComparisonRead['metrics'][number];

/** Where a difference stands between much worse (0) and much better (1); no difference is in the middle. */
export interface ForestRow {
  readonly at: number;
  readonly interval: { readonly from: number; readonly to: number } | null;
  /** The end of what is good enough; null: there is no margin. */
  readonly margin: number | null;
  /** How far the same differed from itself; null: that is not known. */
  readonly noise: { readonly from: number; readonly to: number } | null;
}

/** Room beside the longest interval. */
const ROOM = 1.08;

/** The rows of a forest plot by metric. Metrics of one unit have one scale; to the right is better. */
export function forestOf(metrics: readonly ComparedMetric[]): ReadonlyMap<string, ForestRow> {
  const widest = new Map<string, number>();
  for (const metric of metrics) {
    const { difference, margin_of_difference: margin, noise } = metric;
    if (difference === null) continue;
    const { value, interval } = difference;
    const ends = [value, interval?.low ?? 0, interval?.high ?? 0, margin ?? 0, noise?.low ?? 0, noise?.high ?? 0];
    const widths = ends.map(Math.abs).filter(Number.isFinite);
    widest.set(unitOf(metric), Math.max(widest.get(unitOf(metric)) ?? 0, ...widths));
  }
  const rows = metrics.flatMap((metric) => {
    const { name, direction, difference, margin_of_difference: margin, noise } = metric;
    if (difference === null) return [];
    const scale = (widest.get(unitOf(metric)) ?? 0) * ROOM || 1;
    const sign = direction === 'higher' ? 1 : -1;
    const place = (value: number) => Math.max(0, Math.min(1, 0.5 + (sign * value) / (2 * scale)));
    const between = (ends: { readonly low: number; readonly high: number } | null | undefined) => {
      if (ends == null) return null;
      const places = [place(ends.low), place(ends.high)];
      return { from: Math.min(...places), to: Math.max(...places) };
    };
    const row: ForestRow = {
      at: place(difference.value),
      interval: between(difference.interval),
      noise: between(noise),
      margin: margin === null ? null : place(-sign * margin),
    };
    return [[name, row] as const];
  });
  return new Map(rows);
}

function unitOf({ name, measure, difference }: ComparedMetric): string {
  return difference?.relative === true ? ' share' : measure === 'boolean' ? ' points' : name;
}
