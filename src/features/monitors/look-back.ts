import type { Micros } from '../../engine/timestamp.js';
import { standingAfter, UNKNOWN, type Condition, type Figure, type MonitorState, type Standing } from './condition.js';
import { lastMoment, momentsOf } from './moments.js';
import type { StateChange } from './monitor.js';
import type { Measurer } from './measurer.js';

const DAYS = 30;
const DAY: Micros = 86_400e6;
/** Points of the chart, and changes in the answer. */
const MAX_POINTS = 360;
const MAX_LISTED = 200;

export interface LookBackPoint {
  readonly at: Micros;
  readonly value: number | null;
}

/** What a condition would have done over the last days. */
export interface LookBack {
  readonly from: Micros;
  readonly to: Micros;
  /** How often it would have fired. */
  readonly fired: number;
  /** How often it would have been checked, and at how many checks there was no data. */
  readonly checks: number;
  readonly without_data: number;
  /** The newest first. */
  readonly changes: readonly StateChange[];
  /** Of some moments, at most: the worst value of each stretch of time. */
  readonly points: readonly LookBackPoint[];
}

/** Checks a condition as of each moment of the last 30 days, as the server would have done. @throws what measuring does */
export async function lookBack(
  measurer: Measurer,
  projectId: string,
  condition: Condition,
  now: Micros,
  signal?: AbortSignal,
): Promise<LookBack> {
  const moments = momentsOf(projectId, condition);
  const to = lastMoment(moments, now);
  const checks = (DAYS * DAY) / moments.step;
  const from = to - (checks - 1) * moments.step;
  const windows = { end: from, step: moments.step, length: moments.length, count: checks };
  const group = { projectId, list: condition.list, query: condition.query, window_minutes: condition.window_minutes };
  const { figures } = await measurer.measure({ ...group, conditions: [condition] }, windows, signal);
  const looked = (figures[0] ?? []).map((figure, index) => ({ at: from + index * moments.step, figure }));
  return { from, to, checks, ...changesOf(condition, looked), points: pointsOf(condition, looked) };
}

interface Look {
  readonly at: Micros;
  readonly figure: Figure;
}

function changesOf(condition: Condition, looked: readonly Look[]) {
  let standing: Standing = UNKNOWN;
  let [fired, without_data] = [0, 0];
  const changes: StateChange[] = [];
  for (const { at, figure } of looked) {
    const next = standingAfter(standing, condition, figure);
    if (next.alarm === 'firing' && standing.alarm !== 'firing') fired += 1;
    if (next.state === 'no_data') without_data += 1;
    if (next.state !== standing.state) changes.push(changeTo(next.state, at, figure));
    standing = next;
  }
  return { fired, without_data, changes: changes.slice(-MAX_LISTED).reverse() };
}

function changeTo(state: MonitorState, at: Micros, { value, count }: Figure): StateChange {
  return { at, state, value, count };
}

function pointsOf({ operator }: Condition, looked: readonly Look[]): LookBackPoint[] {
  const width = Math.ceil(looked.length / MAX_POINTS);
  const points: LookBackPoint[] = [];
  for (let first = 0; first < looked.length; first += width) {
    const values = looked.slice(first, first + width).flatMap(({ figure }) => figure.value ?? []);
    const worst = operator === 'above' ? Math.max(...values) : Math.min(...values);
    points.push({ at: looked[first]?.at ?? 0, value: values.length === 0 ? null : worst });
  }
  return points;
}
