import { detectable, rowsFor } from '../../engine/statistics/power.js';
import { RandomBits } from '../../engine/statistics/random-bits.js';
import { armOf } from './arm-figures.js';
import { metricOf, MIN_NAMED_ROWS, type ArmFigures, type MetricFigures, type PairedMetric } from './comparison.js';
import type { PairedRows, SliceFigures, Slicing } from './comparison.js';
import { changedOf, differing, differingOfSlice, type Differing } from './differences.js';
import { movesOf } from './moves.js';

type Options = Pick<PairedRows, 'seed' | 'confidence' | 'slicings'> & { readonly resamples?: number | undefined };

/** What a metric is in both arms, and how they differ: the same each time for one seed. */
export function figuresOf(metric: PairedMetric, { seed, confidence, slicings, resamples }: Options): MetricFigures {
  const { candidate, baseline, rows, measure, direction } = metric;
  const known = { ...metricOf(metric), left_out: metric.left_out };
  const arm = (values: Float64Array) => armOf(metric, values, confidence);
  const arms = { candidate: arm(candidate), baseline: arm(baseline), rows: rows.length };
  const ordered = measure !== 'category' && measure !== 'text';
  if (!ordered) return { ...known, ...arms, ...unordered(metric) };

  const random = new RandomBits(`${seed}/${metric.name}`);
  const differs = differing(metric, { confidence, random, resamples });
  return {
    ...known,
    ...arms,
    ...changedOf(metric, direction),
    ...withMargin(metric, differs, arms.baseline, confidence),
    moves: null,
    slices: slicings.flatMap((slicing) => slicesOf(metric, slicing, confidence)),
  };
}

/** Categories have no better and worse: a row has stayed, or not. */
function unordered(metric: PairedMetric) {
  const { candidate, baseline, measure } = metric;
  const ties = candidate.reduce((count, value, row) => count + (value === baseline[row] ? 1 : 0), 0);
  const none = { margin_of_difference: null, detectable: null, rows_for_margin: null, difference: null };
  const { moves, p } = measure === 'category' ? movesOf(metric) : { moves: null, p: null };
  const test = p === null ? null : ('stuart_maxwell' as const);
  return { ...none, moves, test, p, wins: 0, losses: 0, ties, slices: [] };
}

function withMargin(
  { margin, rows }: PairedMetric,
  { difference, test, p, variance }: Differing,
  baseline: ArmFigures,
  confidence: number,
) {
  const scale = Math.abs(baseline.mean ?? 0);
  const inUnit = () => {
    if (margin === null || difference === null) return null;
    if ('share' in margin) return difference.relative ? margin.share : margin.share * scale;
    return difference.relative ? margin.absolute / scale : margin.absolute;
  };
  const margin_of_difference = inUnit();
  return {
    difference,
    test,
    p,
    margin_of_difference,
    detectable: detectable(variance, rows.length, confidence),
    rows_for_margin: margin_of_difference === null ? null : rowsFor(margin_of_difference, variance, confidence),
  };
}

function slicesOf(metric: PairedMetric, { column, values, of }: Slicing, confidence: number): SliceFigures[] {
  const places: number[][] = values.map(() => []);
  for (const [place, row] of metric.rows.entries()) places[of[row] ?? -1]?.push(place);
  return values.flatMap((value, index) => {
    const own = places[index] ?? [];
    if (own.length < MIN_NAMED_ROWS) return [];
    const pick = (arm: Float64Array) => Float64Array.from(own, (place) => arm[place] ?? 0);
    const { measure, single, direction } = metric;
    const arms = { candidate: pick(metric.candidate), baseline: pick(metric.baseline), measure, single };
    return {
      column,
      value,
      rows: own.length,
      candidate: armOf({ ...metric, ...arms }, arms.candidate, confidence).mean,
      baseline: armOf({ ...metric, ...arms }, arms.baseline, confidence).mean,
      difference: differingOfSlice(arms, confidence),
      ...changedOf(arms, direction),
    };
  });
}
