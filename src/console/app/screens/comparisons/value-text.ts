import { valueText } from '../../../../features/comparisons/words.js';
import type { ComparedMetric } from '../../../model/forest.js';
import { NOTHING, scoreText } from '../../../model/format.js';
import type { ComparedRow } from './data.js';

/** A row's value of a metric; categories are texts. */
export function rowValueText(metric: ComparedMetric, value: ComparedRow['candidate']['value']): string {
  if (value === null || typeof value === 'string') return value ?? NOTHING;
  // A share of repetitions that is neither is written as one.
  const isBoolean = metric.measure === 'boolean' && (value === 0 || value === 1);
  if (!isBoolean) return valueText(metric, value);
  if (metric.name.startsWith('judge:')) return value === 1 ? 'passed' : 'failed';
  return scoreText(value === 1);
}
