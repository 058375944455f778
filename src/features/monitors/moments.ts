import { createHash } from 'node:crypto';
import type { Micros } from '../../engine/timestamp.js';
import type { Condition } from './condition.js';

const MINUTE: Micros = 60e6;

/** Every length of a window with the interval of its checks, both in minutes: the longer, the rarer. Intervals divide windows. */
const STEPS: Readonly<Record<number, number>> = {
  ...{ 5: 1, 10: 1, 15: 1, 30: 2, 60: 5, 120: 10, 240: 20, 360: 30, 720: 60 },
  ...{ 1440: 120, 2880: 240, 4320: 360, 10_080: 720, 20_160: 720, 43_200: 1440 },
};
export const WINDOWS: readonly number[] = Object.keys(STEPS).map(Number);

/** When a window is checked: at its phase, then at every step. */
export interface Moments {
  readonly length: Micros;
  readonly step: Micros;
  readonly phase: Micros;
}

/** What monitors have in common that are measured together. */
export type Measured = Pick<Condition, 'list' | 'query' | 'window_minutes'>;

/** Equal for monitors of a project that are measured together. */
export function keyOf(projectId: string, { list, query, window_minutes }: Measured): string {
  return JSON.stringify([projectId, list, query, window_minutes]);
}

/**
 * Each window of a project has a phase of its own, so that not all are due at once, and those that are can be measured together: the same
 * at each start, and for a look back.
 */
export function momentsOf(projectId: string, measured: Pick<Measured, 'window_minutes'>): Moments {
  const step = (STEPS[measured.window_minutes] ?? 1) * MINUTE;
  const hash = createHash('sha256').update(`${projectId}/${measured.window_minutes}`).digest();
  const phase = (hash.readUInt32BE(0) % (step / 1e6)) * 1e6;
  return { length: measured.window_minutes * MINUTE, step, phase };
}

/** The last moment up to a time. */
export function lastMoment({ step, phase }: Moments, now: Micros): Micros {
  return Math.floor((now - phase) / step) * step + phase;
}
