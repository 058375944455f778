import type { Micros } from '../../timestamp.js';
import type { ListedPosition } from '../model/list/query.js';
import { join, sql, value, type Sql } from '../clickhouse/client/sql.js';

/** A range of start times of spans, both ends included. */
export interface TimeRange {
  readonly from: Micros;
  readonly to: Micros;
}

/** A time as the tables have it. @param micros a text of digits when it comes from the store */
export function moment(micros: Micros | string): Sql {
  return sql`fromUnixTimestamp64Micro(${value(micros, 'Int64')}, 'UTC')`;
}

/** Where a span stands in the order of the table `spans`. */
export interface SpanPosition extends Omit<ListedPosition, 'started_at'> {
  readonly started_at: Micros | string;
}

/** Spans that come after a position, in the table's order or, `descending`, in the opposite one. */
export function beyond({ started_at, trace_id, id }: SpanPosition, descending = false): Sql {
  const [at, trace, span] = [moment(started_at), value(trace_id, 'UUID'), value(id, 'UUID')];
  const past = descending ? sql`<` : sql`>`;
  return sql`started_at ${past}= ${at} AND (started_at ${past} ${at} OR trace_id ${past} ${trace} OR (trace_id = ${trace} AND id ${past} ${span}))`;
}

/** Spans that started within one of the ranges; the table is in this order, so that the rest is not read. */
export function startedWithin(ranges: readonly TimeRange[]): Sql {
  if (ranges.length === 0) return sql`0`;
  const pieces = ranges.map(({ from, to }) => sql`(started_at >= ${moment(from)} AND started_at <= ${moment(to)})`);
  return sql`(${join(pieces, ' OR ')})`;
}
