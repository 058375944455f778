import { wilson, type Interval } from '../../engine/statistics/intervals.js';
import type { ListDefinition } from '../../engine/traces/model/list/definitions.js';

/** What a monitor may measure. */
export const MONITOR_MEASURES = [
  ...(['count', 'error_count', 'error_rate', 'cost', 'tokens'] as const),
  ...(['duration_p50', 'duration_p95', 'duration_p99'] as const),
  ...(['score_mean', 'judge_pass_rate', 'feedback_share'] as const),
] as const;
export type MonitorMeasure = (typeof MONITOR_MEASURES)[number];

export const COMPARISONS = ['constant', 'previous_window'] as const;
export const OPERATORS = ['above', 'below'] as const;

/** The condition of a monitor. */
export interface Condition {
  readonly list: ListDefinition['name'];
  /** Filters, as in the URL of the list. */
  readonly query: string;
  readonly measure: MonitorMeasure;
  readonly score: string | null;
  readonly judge_id: string | null;
  readonly window_minutes: number;
  /** Whether the threshold is a value, or one of the ratio to the same window before. */
  readonly compared_with: (typeof COMPARISONS)[number];
  readonly operator: (typeof OPERATORS)[number];
  readonly threshold: number;
  /** The value at which a firing monitor recovers. */
  readonly recovery_threshold: number;
  /** With fewer, there is no data. */
  readonly minimum_count: number;
}

/** Measures of verdicts and feedback, which are stored beside spans: filters of lists do not apply to them. */
export const BESIDE_SPANS: readonly MonitorMeasure[] = ['judge_pass_rate', 'feedback_share'];

/** Measures that have a value even for an empty window. */
export const OF_NOTHING: readonly MonitorMeasure[] = ['count', 'error_count', 'cost', 'tokens'];

/** A figure of one window. */
export interface Figure {
  /** Null: unknown. */
  readonly value: number | null;
  /** Number of objects, scores, evaluations or opinions behind it. */
  readonly count: number;
  /** Confidence interval of a share; null: it has none. */
  readonly interval: Interval | null;
}

export type MonitorState = 'ok' | 'firing' | 'no_data';

/** The state of a monitor. */
export interface Standing {
  readonly state: MonitorState;
  /** The last state with data, which applies again once there is data; null: none yet. */
  readonly alarm: 'ok' | 'firing' | null;
}

export const UNKNOWN: Standing = { state: 'no_data', alarm: null };

/** The figure that is compared with the threshold. @param before of the window before; null: not compared with it */
export function comparedFigure(condition: Condition, now: Figure, before: Figure | null): Figure {
  if (condition.compared_with === 'constant' || before === null) return now;
  const count = Math.min(now.count, before.count);
  const known = now.value !== null && before.value !== null && before.value !== 0;
  return { value: known ? (now.value ?? 0) / (before.value ?? 1) : null, count, interval: null };
}

/** The state of a monitor after a figure. */
export function standingAfter({ alarm }: Standing, condition: Condition, figure: Figure): Standing {
  const { value, count } = figure;
  if (value === null || count < condition.minimum_count) return { state: 'no_data', alarm };
  const next = alarm === 'firing' ? !isRecovered(condition, value) : isBad(condition, figure, value);
  const state = next ? 'firing' : 'ok';
  return { state, alarm: state };
}

/** A share is bad only if its whole interval is. */
function isBad({ operator, threshold }: Condition, { interval }: Figure, value: number): boolean {
  return operator === 'above' ? (interval?.low ?? value) > threshold : (interval?.high ?? value) < threshold;
}

function isRecovered({ operator, recovery_threshold: threshold }: Condition, value: number): boolean {
  return operator === 'above' ? value <= threshold : value >= threshold;
}

/** The share of `yes` among `count`, as a figure. */
export function shareOf(yes: number, count: number, withInterval: boolean): Figure {
  return {
    value: count === 0 ? null : yes / count,
    count,
    interval: withInterval ? wilson(yes, count) : null,
  };
}

const WORDS: Readonly<Record<MonitorMeasure, string>> = {
  count: 'number',
  error_count: 'number of errors',
  error_rate: 'error rate',
  cost: 'cost in US dollars',
  tokens: 'input and output tokens',
  duration_p50: 'median duration in ms',
  duration_p95: '95th percentile of the duration in ms',
  duration_p99: '99th percentile of the duration in ms',
  score_mean: 'mean of the score',
  judge_pass_rate: 'pass rate of the judge',
  feedback_share: 'share of positive feedback',
};

/** The condition in words. */
export function wordsOf({ measure, score, list, ...condition }: Condition): string {
  const of = BESIDE_SPANS.includes(measure) ? '' : ` of ${list}`;
  const compared = condition.compared_with === 'constant' ? '' : ', as a ratio to the window before,';
  const what = `${WORDS[measure]}${score === null ? '' : ` ${score}`}${of}${compared}`;
  return `${what} ${condition.operator} ${condition.threshold} over ${minutesInWords(condition.window_minutes)}`;
}

function minutesInWords(minutes: number): string {
  if (minutes % 1440 === 0) return minutes === 1440 ? '1 day' : `${minutes / 1440} days`;
  if (minutes % 60 === 0) return minutes === 60 ? '1 hour' : `${minutes / 60} hours`;
  return `${minutes} minutes`;
}
