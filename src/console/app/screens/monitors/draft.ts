import type { ConditionInput, MonitorRead } from '../../../../features/monitors/schema.js';
import { compact, duration, money, NOTHING, percent } from '../../../model/format.js';

/** A condition as it is entered. */
export interface Draft {
  readonly name: string;
  readonly list: string;
  readonly query: string;
  readonly measure: string;
  readonly score: string;
  readonly judge_id: string;
  readonly window: string;
  readonly compared: string;
  readonly operator: string;
  readonly threshold: string;
  readonly recovery: string;
  readonly minimum: string;
}

export const EMPTY: Draft = {
  ...{ name: '', list: 'spans', query: '', measure: 'error_rate', score: '', judge_id: '', window: '60' },
  ...{ compared: 'constant', operator: 'above', threshold: '', recovery: '', minimum: '' },
};

export const MEASURES: Readonly<Record<string, string>> = {
  count: 'Number',
  error_count: 'Number of errors',
  error_rate: 'Error rate',
  cost: 'Cost in US dollars',
  tokens: 'Tokens',
  duration_p50: 'Median duration in ms',
  duration_p95: '95th percentile of the duration in ms',
  duration_p99: '99th percentile of the duration in ms',
  score_mean: 'Mean of a score',
  judge_pass_rate: 'Pass rate of a judge',
  feedback_share: 'Share of positive feedback',
};
/** Measures of what is kept beside spans, which filters do not concern. */
export const UNFILTERED = ['judge_pass_rate', 'feedback_share'];

/** Measures from 0 to 1. */
const SHARES = ['error_rate', ...UNFILTERED];

/** A value of a condition, with the unit of what it measures. */
export function valueText({ measure, compared_with }: Measured, value: number | null): string {
  if (value === null) return NOTHING;
  if (compared_with === 'previous_window') return `${compact(value)}×`;
  if (SHARES.includes(measure)) return percent(value);
  if (measure === 'cost') return money(value);
  return measure.startsWith('duration') ? duration(value) : compact(value);
}

type Measured = Pick<ConditionInput, 'measure' | 'compared_with'>;

/** What a threshold of a draft is; undefined: its measure says so. */
export function thresholdHint({ measure, compared }: Draft): string | undefined {
  if (compared === 'previous_window') return 'A ratio, such as 2 for twice the window before';
  return SHARES.includes(measure) ? 'A share, such as 0.05 for 5%' : undefined;
}

export const WINDOWS: Readonly<Record<string, string>> = {
  ...{ 5: '5 minutes', 10: '10 minutes', 15: '15 minutes', 30: '30 minutes', 60: '1 hour', 120: '2 hours' },
  ...{ 240: '4 hours', 360: '6 hours', 720: '12 hours', 1440: '1 day', 2880: '2 days', 4320: '3 days' },
  ...{ 10080: '7 days', 20160: '14 days', 43200: '30 days' },
};

export function draftOf(monitor: MonitorRead): Draft {
  const { name, list, query, measure, score, judge_id, window_minutes, compared_with, operator } = monitor;
  return {
    ...{ name, list, query, measure, score: score ?? '', judge_id: judge_id ?? '', window: String(window_minutes) },
    ...{ compared: compared_with, operator, threshold: String(monitor.threshold) },
    ...{ recovery: String(monitor.recovery_threshold), minimum: String(monitor.minimum_count) },
  };
}

/** Why a draft cannot be sent; null: it can. */
export function refusalOf({ name, threshold, measure, score, judge_id }: Draft): string | null {
  if (name.trim() === '') return 'Enter a name';
  if (threshold.trim() === '' || !Number.isFinite(Number(threshold))) return 'Enter a threshold';
  if (measure === 'score_mean' && score === '') return 'Enter a score';
  return measure === 'judge_pass_rate' && judge_id === '' ? 'Choose a judge' : null;
}

export function conditionOf(draft: Draft): ConditionInput {
  const { measure, score, judge_id, recovery, minimum } = draft;
  const filtered = !UNFILTERED.includes(measure);
  return {
    measure: measure as ConditionInput['measure'],
    operator: draft.operator as ConditionInput['operator'],
    compared_with: draft.compared as NonNullable<ConditionInput['compared_with']>,
    window_minutes: Number(draft.window),
    threshold: Number(draft.threshold),
    ...(filtered && { list: draft.list as NonNullable<ConditionInput['list']>, query: draft.query }),
    ...(measure === 'score_mean' && { score }),
    ...(measure === 'judge_pass_rate' && { judge_id }),
    ...(recovery.trim() !== '' && { recovery_threshold: Number(recovery) }),
    ...(minimum.trim() !== '' && { minimum_count: Number(minimum) }),
  };
}
