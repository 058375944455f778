import { DomainError } from '../../engine/errors.js';
import type { Micros } from '../../engine/timestamp.js';
import { standingAfter, wordsOf, type Figure } from './condition.js';
import type { Monitor, Outcome } from './monitor.js';

/** Whether webhooks have heard of its state. */
export const isSettled = ({ alarm, told }: Monitor) => alarm === null || told === alarm;

/** What a figure comes to. */
export function outcomeOf(monitor: Monitor, figure: Figure, at: Micros): Outcome {
  const { condition, revision, muted_until } = monitor;
  const standing = standingAfter(monitor, condition, figure);
  const isMuted = muted_until !== null && muted_until > Date.now() * 1000;
  const told = isMuted || standing.alarm === null ? monitor.told : standing.alarm;
  const { value, count } = figure;
  return { ...standing, at, value, count, revision, told };
}

/** What destinations are told. */
export function eventOf({ id, name, project_id, condition }: Monitor, { told, value, count, at }: Outcome) {
  const { measure, operator, threshold, compared_with, window_minutes } = condition;
  const fires = told === 'firing';
  return {
    project_id,
    type: fires ? ('monitor.fired' as const) : ('monitor.recovered' as const),
    summary: `${name} ${fires ? 'fires' : 'recovered'}: ${value ?? 'unknown'} (${wordsOf(condition)})`,
    data: {
      ...{ monitor_id: id, name, state: told, value, count, measure, compared_with, operator, threshold },
      ...{ window_minutes, window_end: new Date(at / 1000).toISOString() },
    },
  };
}

/** Why a look failed, for people. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof DomainError)) return 'An internal error; see the server log';
  if (error.kind === 'invalid') return `The filters are not valid any more: ${error.message}`;
  return `${error.message}. Retrying.`;
}
