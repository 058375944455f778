import { parseTimestamp } from '../../engine/timestamp.js';
import { refused } from './filter-grammar.js';

/** What a bound is given in. */
export type Unit = 'seconds' | 'time' | 'count' | 'dollars' | 'number';

/** Costs are kept to so much. */
const SMALLEST_COST = 1e-12;
const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/;
const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * An inclusive bound of a field of lists that says the same.
 * @param by `gt`, `gte`, `lt` or `lte`
 * @throws DomainError `malformed`
 */
export function boundOf(by: string, field: string, value: unknown, unit: Unit): number {
  const bound = inUnit(value, unit);
  if (bound === undefined || !Number.isFinite(bound)) throw refused(`compares ${field} with ${said(value)}`);
  if (by.endsWith('e')) return bound;
  return beyond(bound, by === 'gt' ? 1 : -1, unit);
}

function inUnit(value: unknown, unit: Unit): number | undefined {
  if (unit === 'time')
    return typeof value === 'string' || typeof value === 'number' ? parseTimestamp(value) : undefined;
  if (unit !== 'seconds') return typeof value === 'number' ? value : undefined;
  if (typeof value === 'number') return value * 1_000;
  const [, number, name = 's'] = typeof value === 'string' ? (DURATION.exec(value.trim()) ?? []) : [];
  return number === undefined ? undefined : Number(number) * (MILLISECONDS[name] ?? 1);
}

/** The next value in a direction. */
function beyond(bound: number, direction: 1 | -1, unit: Unit): number {
  if (unit === 'time') return bound + direction;
  if (unit === 'count') return direction === 1 ? Math.floor(bound) + 1 : Math.ceil(bound) - 1;
  if (unit === 'dollars') return bound + direction * SMALLEST_COST;
  return nextNumber(bound, direction);
}

/** The next number that can be told from one. */
function nextNumber(number: number, direction: 1 | -1): number {
  if (number === 0) return direction * Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  const away = number > 0 === (direction === 1) ? 1n : -1n;
  view.setBigInt64(0, view.getBigInt64(0) + away);
  return view.getFloat64(0);
}

const said = (value: unknown) => (typeof value === 'string' ? JSON.stringify(value.slice(0, 50)) : String(value));
