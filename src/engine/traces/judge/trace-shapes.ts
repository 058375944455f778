import type { Micros } from '../../timestamp.js';
import { versionTime } from '../write/version-clock.js';
import { join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { spanTimes } from '../list/descendant-filters.js';
import type { ReadRows } from '../read/row-reader.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { current, written } from '../read/visibility.js';
import { shapeColumns, toShape, type ShapeRow, type StoredShape } from './shape-rows.js';

/** Spans of a trace that are read from either end of a large one; of smaller ones, all are. */
export const FROM_EITHER_END = 1000;
/** Roots and spans that failed of a large trace. */
const ROOTS_AND_ERRORS = 500;
/** Kinds of the other spans of a large trace that are told apart. */
const KINDS = 20;
const OTHER_KINDS = 'other';

/** What is known of a trace before its texts are read. */
export interface StoredTrace {
  /** In the order of start: all, or of a large trace those at its ends, roots and errors. */
  readonly spans: readonly StoredShape[];
  /** The root that started first, else the span that did. */
  readonly anchor: StoredShape;
  /** The other spans by kind. */
  readonly unread: ReadonlyMap<string, number>;
  readonly total: number;
  /** When its last span arrived. */
  readonly arrived_at: Micros;
}

/** Reads a trace without its texts; null: it has no span. */
export async function readTrace(
  rows: ReadRows,
  scope: ReadScope,
  traceId: string,
  kinds: readonly string[],
): Promise<StoredTrace | null> {
  const among = spansOf(scope, sql`= ${value(traceId, 'UUID')}`);
  const read = async (order: Sql, limit: number, where = sql`1`) =>
    (await rows<ShapeRow>(shapes(among, kinds, { where, order, limit }))).map(toShape);
  const first = await read(IN_ORDER, FROM_EITHER_END + 1);
  const [start] = first;
  if (start === undefined) return null;
  if (first.length <= FROM_EITHER_END) return traceOf(first, new Map(), null);
  const last = await read(AGAINST_ORDER, FROM_EITHER_END);
  const kept = await read(IN_ORDER, ROOTS_AND_ERRORS, rootsAndErrors(among));
  const known = new Map([...first, ...kept, ...last].map((shape) => [shape.version, shape]));
  const spans = [...known.values()].sort((a, b) => a.started_at - b.started_at || (a.id < b.id ? -1 : 1));
  const counts = await rows<KindRow>(sql`${among.bounds}SELECT kind AS of_kind, toString(count()) AS spans,
  toString(sum(count()) OVER ()) AS total, toString(max(max(${written})) OVER ()) AS arrived
FROM spans WHERE ${among.where} GROUP BY kind ORDER BY count() DESC, kind LIMIT ${value(KINDS, 'UInt64')}`);
  return traceOf(spans, unreadOf(counts, spans), counts[0] ?? null);
}

/** The spans of some traces that count: a statement begins with `bounds`. */
export interface SpansOfTraces {
  readonly bounds: Sql;
  readonly where: Sql;
}

/** @param traces a condition on ids of traces, without the column */
export function spansOf(scope: ReadScope, traces: Sql): SpansOfTraces {
  const conditions = [
    inProject(scope.projectId),
    sql`started_at >= bounds.1 AND started_at <= bounds.2`,
    sql`trace_id ${traces}`,
    current(scope),
  ];
  return { bounds: sql`WITH ${spanTimes(scope, traces)} AS bounds\n`, where: join(conditions, '\n  AND ') };
}

/** In the order of the table, so that reading ends with the limit. */
const IN_ORDER = sql`project_id, started_at, trace_id, id`;
const AGAINST_ORDER = sql`project_id DESC, started_at DESC, trace_id DESC, id DESC`;

/** Found without their texts first: there may be very many. */
function rootsAndErrors({ where }: SpansOfTraces): Sql {
  return sql`ver IN (SELECT ver FROM spans WHERE ${where} AND (isNull(parent_span_id) OR has_error)
    ORDER BY isNotNull(parent_span_id), started_at, id LIMIT ${value(ROOTS_AND_ERRORS, 'UInt64')})`;
}

function shapes(
  { bounds, where }: SpansOfTraces,
  kinds: readonly string[],
  page: { readonly where: Sql; readonly order: Sql; readonly limit: number },
): Sql {
  return sql`${bounds}SELECT ${shapeColumns(kinds)}
FROM spans WHERE ${where} AND ${page.where}
ORDER BY ${page.order} LIMIT ${value(page.limit, 'UInt64')}`;
}

interface KindRow {
  readonly of_kind: string;
  readonly spans: string;
  /** Of the whole trace, as `arrived` is. */
  readonly total: string;
  readonly arrived: string;
}

function traceOf(
  spans: readonly StoredShape[],
  unread: ReadonlyMap<string, number>,
  all: Pick<KindRow, 'total' | 'arrived'> | null,
): StoredTrace | null {
  const anchor = spans.find(({ parent }) => parent === null) ?? spans[0];
  if (anchor === undefined) return null;
  const arrived_at =
    all === null
      ? spans.reduce((latest, span) => Math.max(latest, span.arrived_at), 0)
      : versionTime(Number(all.arrived));
  return { spans, anchor, unread, total: all === null ? spans.length : Number(all.total), arrived_at };
}

/** The spans of a large trace that were not read one by one. */
function unreadOf(counts: readonly KindRow[], read: readonly StoredShape[]): Map<string, number> {
  const known = new Map<string, number>();
  for (const { kind } of read) known.set(kind, (known.get(kind) ?? 0) + 1);
  const unread = new Map<string, number>();
  for (const { of_kind: kind, spans } of counts) {
    const left = Number(spans) - (known.get(kind) ?? 0);
    if (left > 0) unread.set(kind, left);
  }
  const named = [...unread.values()].reduce((sum, each) => sum + each, 0);
  const others = Number(counts[0]?.total ?? 0) - read.length - named;
  return others > 0 ? unread.set(OTHER_KINDS, (unread.get(OTHER_KINDS) ?? 0) + others) : unread;
}
