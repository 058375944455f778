import { quantileOf } from '../../engine/statistics/bootstrap.js';
import { mean, sumOf, wilson } from '../../engine/statistics/intervals.js';
import type { ArmFigures, PairedMetric } from './comparison.js';

const NONE: ArmFigures = {
  mean: null,
  interval: null,
  standard_error: null,
  sum: null,
  median: null,
  p95: null,
  categories: null,
};
/** Most categories that are named. */
const MAX_NAMED = 30;

/** What one arm has of a metric. */
export function armOf(metric: PairedMetric, values: Float64Array, confidence: number): ArmFigures {
  const { measure, single, categories } = metric;
  if (measure === 'text' || values.length === 0) return NONE;
  if (measure === 'category') return { ...NONE, categories: countedOf(values, categories) };
  const { value, interval, standard_error } = mean(values, confidence);
  if (measure === 'boolean' && single)
    return { ...NONE, mean: value, interval: wilson(sumOf(values), values.length, confidence) };
  const arm = { ...NONE, mean: value, interval, standard_error };
  if (measure !== 'sum') return arm;
  const sorted = values.slice().sort();
  return { ...arm, sum: sumOf(values), median: quantileOf(sorted, 0.5), p95: quantileOf(sorted, 0.95) };
}

function countedOf(values: Float64Array, categories: readonly string[]) {
  const counts = new Int32Array(categories.length);
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return categories
    .map((category, index) => ({ category, rows: counts[index] ?? 0 }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows)
    .slice(0, MAX_NAMED);
}
