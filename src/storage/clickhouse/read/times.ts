import type { Micros } from '../../../domain/time/timestamp.js';
import { join, sql, value, type Sql } from '../client/sql.js';

/** From one start to another, both included. */
export interface TimeRange {
  readonly from: Micros;
  readonly to: Micros;
}

/** A time as the tables have it. @param micros a text of digits when it comes from the store */
export function moment(micros: Micros | string): Sql {
  return sql`fromUnixTimestamp64Micro(${value(micros, 'Int64')}, 'UTC')`;
}

/** Spans that started within one of the ranges; the table is in this order, so that the rest is not read. */
export function startedWithin(ranges: readonly TimeRange[]): Sql {
  if (ranges.length === 0) return sql`0`;
  const pieces = ranges.map(({ from, to }) => sql`(started_at >= ${moment(from)} AND started_at <= ${moment(to)})`);
  return sql`(${join(pieces, ' OR ')})`;
}
