import { quantileOf } from '../../engine/statistics/bootstrap.js';
import { mean, sumOf, wilson } from '../../engine/statistics/intervals.js';
import { MIN_NAMED_ROWS, OTHERS, type ArmFigures, type PairedMetric } from './comparison.js';

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
  const { measure, single } = metric;
  if (measure === 'text' || values.length === 0) return NONE;
  if (measure === 'category') return { ...NONE, categories: countedOf(values, metric) };
  const { value, interval, standard_error } = mean(values, confidence);
  if (measure === 'boolean' && single)
    return { ...NONE, mean: value, interval: wilson(sumOf(values), values.length, confidence) };
  const arm = { ...NONE, mean: value, interval, standard_error };
  if (measure !== 'sum') return arm;
  const sorted = values.slice().sort();
  return { ...arm, sum: sumOf(values), median: quantileOf(sorted, 0.5), p95: quantileOf(sorted, 0.95) };
}

type Categorized = Pick<PairedMetric, 'candidate' | 'baseline' | 'categories'>;

function countedOf(values: Float64Array, metric: Categorized) {
  const { categories } = metric;
  const counts = new Int32Array(categories.length);
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  const named = new Map<string, number>();
  for (const [index, name] of namesOf(metric).entries()) {
    const rows = counts[index] ?? 0;
    if (rows > 0) named.set(name, (named.get(name) ?? 0) + rows);
  }
  return [...named]
    .map(([category, rows]) => ({ category, rows }))
    .sort((a, b) => b.rows - a.rows)
    .slice(0, MAX_NAMED);
}

/** By place, what categories are called: those of few rows in both arms are one. */
export function namesOf({ candidate, baseline, categories }: Categorized): string[] {
  const [first, second] = [new Int32Array(categories.length), new Int32Array(categories.length)];
  for (const value of candidate) first[value] = (first[value] ?? 0) + 1;
  for (const value of baseline) second[value] = (second[value] ?? 0) + 1;
  return categories.map((category, index) =>
    Math.max(first[index] ?? 0, second[index] ?? 0) < MIN_NAMED_ROWS ? OTHERS : category,
  );
}
