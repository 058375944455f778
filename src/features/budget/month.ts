import type { Micros } from '../../engine/timestamp.js';

/** A calendar month, in UTC, such as `2026-11`. */
export function monthOf(now: Micros): string {
  return new Date(now / 1000).toISOString().slice(0, 7);
}

/** When the month after one begins. */
export function monthAfter(month: string): Micros {
  const [year = 1970, number = 1] = month.split('-').map(Number);
  return Date.UTC(year, number) * 1000;
}

const DAY = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', dateStyle: 'long' });

/** The same for people, such as `December 1, 2026 (UTC)`. */
export function firstDayAfter(month: string): string {
  return `${DAY.format(monthAfter(month) / 1000)} (UTC)`;
}
