import { wilson, type Interval } from '../../engine/statistics/intervals.js';
import type { ListDefinition } from '../../engine/traces/model/list/definitions.js';

/** What a monitor may look at. */
export const MONITOR_MEASURES = [
  ...(['count', 'error_count', 'error_rate', 'cost', 'tokens'] as const),
  ...(['duration_p50', 'duration_p95', 'duration_p99'] as const),
  ...(['score_mean', 'judge_pass_rate', 'feedback_share'] as const),
] as const;
export type MonitorMeasure = (typeof MONITOR_MEASURES)[number];

export const COMPARISONS = ['constant', 'previous_window'] as const;
export const OPERATORS = ['above', 'below'] as const;

/** What a monitor asks. */
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
  /** What a monitor that fires has to come back to. */
  readonly recovery_threshold: number;
  /** With fewer, there is no data. */
  readonly minimum_count: number;
}

/** Measures of verdicts and opinions, which are kept beside spans: filters of lists do not concern them. */
export const BESIDE_SPANS: readonly MonitorMeasure[] = ['judge_pass_rate', 'feedback_share'];

/** Measures that say something of no objects at all: that there are none. */
export const OF_NOTHING: readonly MonitorMeasure[] = ['count', 'error_count', 'cost', 'tokens'];

/** A figure of one window. */
export interface Figure {
  /** Null: nothing is known. */
  readonly value: number | null;
  /** How many objects, scores, evaluations or opinions it is about. */
  readonly count: number;
  /** Where a share of few is known with this confidence only. */
  readonly interval: Interval | null;
}

export type MonitorState = 'ok' | 'firing' | 'no_data';

/** Where a monitor stands. */
export interface Standing {
  readonly state: MonitorState;
  /** The last state that there was data for, which goes on once there is data; null: none yet. */
  readonly alarm: 'ok' | 'firing' | null;
}

export const UNKNOWN: Standing = { state: 'no_data', alarm: null };

/** The figure that the threshold is about. @param before of the window before; null: it is not compared with that */
export function comparedFigure(condition: Condition, now: Figure, before: Figure | null): Figure {
  if (condition.compared_with === 'constant' || before === null) return now;
  const count = Math.min(now.count, before.count);
  const known = now.value !== null && before.value !== null && before.value !== 0;
  return { value: known ? (now.value ?? 0) / (before.value ?? 1) : null, count, interval: null };
}

/** Where a monitor stands after a figure. */
export function standingAfter({ alarm }: Standing, condition: Condition, figure: Figure): Standing {
  const { value, count } = figure;
  if (value === null || count < condition.minimum_count) return { state: 'no_data', alarm };
  const next = alarm === 'firing' ? !isRecovered(condition, value) : isBad(condition, figure, value);
  const state = next ? 'firing' : 'ok';
  return { state, alarm: state };
}

/** A share counts as bad only where all of its interval is. */
function isBad({ operator, threshold }: Condition, { interval }: Figure, value: number): boolean {
  return operator === 'above' ? (interval?.low ?? value) > threshold : (interval?.high ?? value) < threshold;
}

function isRecovered({ operator, recovery_threshold: threshold }: Condition, value: number): boolean {
  return operator === 'above' ? value <= threshold : value >= threshold;
}

/** The figure of some yeses among so many. */
export function shareOf(yes: number, count: number, withInterval: boolean): Figure {
  return {
    value: count === 0 ? null : yes / count,
    count,
    interval: withInterval ? wilson(yes, count) : null,
  };
}

const WORDS: Readonly<Record<MonitorMeasure, string>> = {
  count: 'number',
  error_count: 'number with errors',
  error_rate: 'share with errors',
  cost: 'cost in US dollars',
  tokens: 'input and output tokens',
  duration_p50: 'median duration in ms',
  duration_p95: '95th percentile of durations in ms',
  duration_p99: '99th percentile of durations in ms',
  score_mean: 'mean of the score',
  judge_pass_rate: 'share that the judge passed',
  feedback_share: 'share of positive feedback',
};

/** What fires, in words. */
export function wordsOf({ measure, score, list, ...condition }: Condition): string {
  const of = BESIDE_SPANS.includes(measure) ? '' : ` of ${list}`;
  const compared = condition.compared_with === 'constant' ? '' : ', as a ratio to the window before,';
  const what = `${WORDS[measure]}${score === null ? '' : ` ${score}`}${of}${compared}`;
  return `${what} ${condition.operator} ${condition.threshold} within ${minutesInWords(condition.window_minutes)}`;
}

function minutesInWords(minutes: number): string {
  if (minutes % 1440 === 0) return minutes === 1440 ? '1 day' : `${minutes / 1440} days`;
  if (minutes % 60 === 0) return minutes === 60 ? '1 hour' : `${minutes / 60} hours`;
  return `${minutes} minutes`;
}
