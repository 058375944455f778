import type { Interval } from '../../engine/statistics/intervals.js';
import type { ArmFigures, Difference, MetricFigures } from './comparison.js';

/** Figures as they are stored and shown: JSON has no numbers without end, and null says that there is none. */
export function finiteFigures(metric: MetricFigures): MetricFigures {
  const { candidate, baseline, difference, p, margin_of_difference, detectable, rows_for_margin, slices } = metric;
  return {
    ...metric,
    candidate: armOf(candidate),
    baseline: armOf(baseline),
    difference: differenceOf(difference),
    p: finite(p),
    margin_of_difference: finite(margin_of_difference),
    detectable: finite(detectable),
    rows_for_margin: rows_for_margin !== null && Number.isSafeInteger(rows_for_margin) ? rows_for_margin : null,
    slices: slices.map((slice) => ({
      ...slice,
      candidate: finite(slice.candidate),
      baseline: finite(slice.baseline),
      difference: differenceOf(slice.difference),
    })),
  };
}

const finite = (value: number | null) => (value !== null && Number.isFinite(value) ? value : null);

function intervalOf(interval: Interval | null): Interval | null {
  return interval !== null && Number.isFinite(interval.low) && Number.isFinite(interval.high) ? interval : null;
}

function armOf(arm: ArmFigures): ArmFigures {
  return {
    mean: finite(arm.mean),
    interval: intervalOf(arm.interval),
    standard_error: finite(arm.standard_error),
    sum: finite(arm.sum),
    median: finite(arm.median),
    p95: finite(arm.p95),
    categories: arm.categories,
  };
}

function differenceOf(difference: Difference | null): Difference | null {
  if (difference === null || !Number.isFinite(difference.value)) return null;
  return { ...difference, interval: intervalOf(difference.interval) };
}
