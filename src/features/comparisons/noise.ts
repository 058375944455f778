import { isDeepStrictEqual } from 'node:util';
import type { Experiment } from '../experiments/experiment.js';
import type { MetricOutcome, Noise } from './comparison.js';
import type { Comparison } from './comparison-store.js';

/** What says which code, prompt and model an experiment tried; where it was built says nothing. */
const TRIED = ['commit', 'prompt_slug', 'prompt_version', 'model'] as const;

type Tried = Pick<Experiment, 'subject' | 'parameters'>;

/** Whether two experiments say that they tried the same: then they differ by chance alone. */
export function isRepeat(one: Tried, other: Tried): boolean {
  const saysWhat = typeof one.subject['commit'] === 'string' || typeof one.subject['prompt_version'] === 'number';
  const isDirty = [one, other].some(({ subject }) => subject['dirty'] === true);
  const same = TRIED.every((name) => (one.subject[name] ?? null) === (other.subject[name] ?? null));
  return saysWhat && !isDirty && same && isDeepStrictEqual(one.parameters, other.parameters);
}

/** How far a metric differed where the same was tried twice; null: that is not known of this metric. */
export function noiseOf(metric: MetricOutcome, repeat: Pick<Comparison, 'id' | 'found'> | undefined): Noise | null {
  const found = repeat?.found.metrics.find(({ name }) => name === metric.name);
  if (repeat === undefined || found?.difference?.interval == null || metric.difference === null) return null;
  const isAlike =
    found.measure === metric.measure &&
    found.difference.relative === metric.difference.relative &&
    found.judge?.judge_version === metric.judge?.judge_version;
  return isAlike ? { comparison_id: repeat.id, ...found.difference.interval } : null;
}
