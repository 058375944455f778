import type { Row } from '../harness/checked-api.js';

/** A span as the model knows it. */
export interface ModelSpan {
  /** Microseconds. */
  readonly at: number;
  readonly name: string;
  readonly error: boolean;
  readonly cost: number | null;
  readonly duration: number | null;
  readonly score: number | null;
}

/** A condition as it is sent. */
export interface ModelCondition extends Row {
  readonly measure: string;
  readonly window_minutes: number;
  readonly operator: 'above' | 'below';
  readonly threshold: number;
}

export interface ModelChange {
  readonly at: number;
  readonly state: string;
  readonly value: number | null;
  readonly count: number;
}

const OF_NOTHING = ['count', 'error_count', 'cost'];

interface Figure {
  readonly value: number | null;
  readonly count: number;
}

/** A figure of the spans that started within a window, counted one by one. */
export function figureOf(spans: readonly ModelSpan[], condition: ModelCondition, end: number): Figure {
  const begin = end - condition.window_minutes * 60e6;
  const all = spans.filter(({ at, name }) => at > begin && at <= end && (condition['query'] ?? '').includes(name));
  const count = all.length;
  const errors = all.filter(({ error }) => error).length;
  const durations = all.flatMap(({ duration }) => duration ?? []).sort((a, b) => a - b);
  const percentile = (share: number) => durations[Math.floor(durations.length * share)] ?? null;
  const costs = all.flatMap(({ cost }) => cost ?? []);
  const scores = all.flatMap(({ score }) => score ?? []);
  const sum = (of: readonly number[]) => of.reduce((total, each) => total + each, 0);
  switch (condition.measure) {
    case 'count':
      return { value: count, count };
    case 'error_count':
      return { value: errors, count };
    case 'error_rate':
      return { value: count === 0 ? null : errors / count, count };
    case 'cost':
      return { value: count > 0 && costs.length === 0 ? null : sum(costs), count };
    case 'duration_p50':
      return { value: percentile(0.5), count };
    case 'duration_p95':
      return { value: percentile(0.95), count };
    default:
      return { value: scores.length === 0 ? null : sum(scores) / scores.length, count: scores.length };
  }
}

/** The figure that the threshold is about. */
export function comparedFigure(spans: readonly ModelSpan[], condition: ModelCondition, end: number): Figure {
  const now = figureOf(spans, condition, end);
  if (condition['compared_with'] !== 'previous_window') return now;
  const before = figureOf(spans, condition, end - condition.window_minutes * 60e6);
  const known = now.value !== null && before.value !== null && before.value !== 0;
  return {
    value: known ? (now.value ?? 0) / (before.value ?? 1) : null,
    count: Math.min(now.count, before.count),
  };
}

/** Every change of state at some moments, the oldest first, and how often it fired. */
export function changesOf(spans: readonly ModelSpan[], condition: ModelCondition, moments: readonly number[]) {
  const least = condition['minimum_count'] ?? (OF_NOTHING.includes(condition.measure) ? 0 : 1);
  const back = condition['recovery_threshold'] ?? condition.threshold;
  const sign = condition.operator === 'above' ? 1 : -1;
  const changes: ModelChange[] = [];
  let [state, fires, fired] = ['no_data', false, 0];
  for (const at of moments) {
    const { value, count } = comparedFigure(spans, condition, at);
    let next = 'no_data';
    if (value !== null && count >= least) {
      const was = fires;
      fires = sign * (value - (was ? back : condition.threshold)) > 0;
      if (fires && !was) fired += 1;
      next = fires ? 'firing' : 'ok';
    }
    if (next !== state) changes.push({ at, state: next, value, count });
    state = next;
  }
  return { changes, fired };
}
