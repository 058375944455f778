import type { ListQuery } from '../../../domain/list/query.js';
import { empty, identifier, join, literal, sql, value, type Sql } from '../client/sql.js';
import { conditions, textFound } from './conditions.js';
import { jsonArray, jsonLines } from '../read/json-rows.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { current } from '../read/visibility.js';
import { spanSource, traceSource, type ListSource } from './sources.js';
import { unsettledSessions, unsettledTraces } from './unsettled.js';

/** Pages up to here are looked for among the newest or oldest before all rows are read. */
const MAX_INDEXED_ROWS = 1000;

/** Bytes of a JSON array of spans. */
export function spanPage(scope: ReadScope, query: ListQuery): Sql {
  const { list, columns } = spanSource;
  const { selected, format } = jsonArray(list.fields, query.fields ?? Object.keys(list.fields), columns);
  return sql`${spanBounds(scope, query)}SELECT ${selected}
FROM spans
WHERE ${spanConditions(scope, query)}
${order(spanSource, query)}
${window(query)}
${format}`;
}

export function spanCount(scope: ReadScope, query: ListQuery): Sql {
  return sql`${spanBounds(scope, query)}SELECT count() AS total FROM spans WHERE ${spanConditions(scope, query)}`;
}

/** Whether there are so many rows: reading stops with them, in whatever order. */
export function hasSpans(scope: ReadScope, query: ListQuery, rows: number): Sql {
  return sql`${spanBounds(scope, query)}SELECT count() = ${value(rows, 'UInt64')} AS enough
FROM (SELECT 1 FROM spans WHERE ${spanConditions(scope, query)} LIMIT ${value(rows, 'UInt64')})`;
}

function spanConditions(scope: ReadScope, query: ListQuery): Sql {
  const search = query.search === null ? [] : [textFound(query.search, scope.within)];
  const bounds =
    idsAskedFor(query, 'trace_id') === null ? [] : [sql`started_at >= bounds.1`, sql`started_at <= bounds.2`];
  return allOf([inProject(scope.projectId), ...bounds, ...conditions(query, spanSource), ...search, current(scope)]);
}

/** The spans of one trace are found by their times, which its facts know, in a table ordered by time. */
function spanBounds(scope: ReadScope, query: ListQuery): Sql {
  const traces = idsAskedFor(query, 'trace_id');
  if (traces === null) return empty;
  return sql`WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE ${inProject(scope.projectId)} AND trace_id = ${value(traces[0], 'UUID')} AND row_type = 0 AND NOT deleted) AS bounds
`;
}

/** How the rows of a rollup are to be reached. */
export type AccessPath =
  /** All rows. */
  | { readonly by: 'all' }
  /** The rows with these ids. */
  | { readonly by: 'ids'; readonly ids: readonly string[] }
  /** The newest or oldest rows, if the page is surely among them; otherwise fewer than asked for come back. */
  | { readonly by: 'time' };

/** The cheapest way to a page; `time` may turn out too short, then `all` is the way. */
export function accessPathOf(source: ListSource, query: ListQuery): AccessPath {
  const ids = idsAskedFor(query);
  if (ids !== null) return { by: 'ids', ids };
  const plain = query.filters.length === 0 && query.tags.size === 0 && query.search === null;
  const byTime = query.sort === source.list.defaultSort && query.offset + query.limit <= MAX_INDEXED_ROWS;
  return plain && byTime ? { by: 'time' } : { by: 'all' };
}

/** The ids of the only rows that a query can find, or of the only trace with such; null when it names none. */
export function idsAskedFor(query: ListQuery, field: 'id' | 'trace_id' = 'id'): readonly string[] | null {
  const id = query.filters.find(({ filter }) => filter.field === field);
  return id === undefined ? null : [String(id.values[0])];
}

/** Rows of `traces` or `sessions` as JSON lines, with the columns of `extra`. */
export function rollupPage(
  source: ListSource,
  scope: ReadScope,
  query: ListQuery,
  access: AccessPath,
  extra: readonly Sql[] = [],
): Sql {
  const { list, columns } = source;
  const { selected, format } = jsonLines(list.fields, query.fields ?? Object.keys(list.fields), columns, extra);
  return sql`${boundary(source, scope, query, access)}SELECT ${selected}
FROM ${rows(source, scope, query, access)}
WHERE ${rollupConditions(source, scope, query, access)}
${order(source, query)}
${window(query)}
${format}`;
}

export function rollupCount(source: ListSource, scope: ReadScope, query: ListQuery): Sql {
  const access = { by: 'all' } as const;
  return sql`SELECT count() AS total FROM ${rows(source, scope, query, access)} WHERE ${rollupConditions(source, scope, query, access)}`;
}

function rollupConditions(source: ListSource, scope: ReadScope, query: ListQuery, access: AccessPath): Sql {
  const search = query.search === null ? [] : [searched(source, scope, query.search)];
  const time = source.timeIndex?.time;
  // Beyond the boundary of the index there may be rows that it did not name.
  const inside =
    access.by === 'time' && time
      ? [sql`(boundary.2 < ${indexed(query)} OR ${time} ${query.descending ? sql`>` : sql`<`} boundary.1)`]
      : [];
  return allOf([inProject(scope.projectId), sql`NOT gone`, ...inside, ...conditions(query, source), ...search]);
}

/** A trace is found by its spans, a session by its traces. */
function searched(source: ListSource, scope: ReadScope, text: string): Sql {
  return sql`id IN (${holders(source, scope, spansWith(scope, text))})`;
}

function spansWith(scope: ReadScope, text: string): Sql {
  return sql`${inProject(scope.projectId)} AND ${textFound(text, scope.within)} AND ${current(scope)}`;
}

/** Ids of the traces, or sessions, with spans that meet some conditions. */
function holders(source: ListSource, { projectId }: ReadScope, spans: Sql, among: Sql = empty): Sql {
  const traces = sql`SELECT trace_id AS id FROM spans WHERE ${spans}`;
  if (source === traceSource) return traces;
  return sql`SELECT session_id AS id FROM session_traces FINAL WHERE ${inProject(projectId)} AND member${among} AND trace_id IN (${traces})`;
}

/** Ids of a page of a list, in its order, whatever text is searched for. */
export function idPage(source: ListSource, scope: ReadScope, query: ListQuery): Sql {
  const anyText = { ...query, search: null };
  const access = { by: 'all' } as const;
  return sql`SELECT id FROM ${rows(source, scope, anyText, access)}
WHERE ${rollupConditions(source, scope, anyText, access)}
${order(source, query)}
${window(query)}`;
}

/** Which of these traces, or sessions, hold a text. Their spans are found by their times, which their facts know. */
export function idsMatchingText(source: ListSource, scope: ReadScope, text: string, ids: readonly string[]): Sql {
  const project = inProject(scope.projectId);
  const these = sql`(${join(ids.map(literal), ', ')})`;
  const traces =
    source === traceSource
      ? these
      : sql`(SELECT trace_id FROM session_traces WHERE ${project} AND session_id IN ${these})`;
  const spans = sql`started_at >= bounds.1 AND started_at <= bounds.2 AND trace_id IN ${traces} AND ${spansWith(scope, text)}`;
  return sql`WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE ${project} AND trace_id IN ${traces} AND row_type = 0 AND NOT deleted) AS bounds
SELECT DISTINCT id FROM (${holders(source, scope, spans, sql` AND session_id IN ${these}`)})`;
}

/**
 * The newest version of every row. Few rows are picked by id, which reads a few granules; FINAL over all merges what is
 * not merged yet. Of traces that are not rolled up, whatever is stored is left out and their figures come from their facts.
 */
function rows(source: ListSource, scope: ReadScope, query: ListQuery, access: AccessPath): Sql {
  const ids = access.by === 'ids' ? access.ids : null;
  const unsettled = source === traceSource ? unsettledTraces(scope, ids) : unsettledSessions(scope, ids);
  if (unsettled === null) return stored(source, scope, query, access);
  const settled = sql` WHERE ${inProject(scope.projectId)} AND id NOT IN ${unsettled.ids}`;
  return sql`(
  SELECT ${join(unsettled.columns.map(identifier), ', ')} FROM ${stored(source, scope, query, access)}${settled}
  UNION ALL
  ${unsettled.figures}
)`;
}

function stored(source: ListSource, scope: ReadScope, query: ListQuery, access: AccessPath): Sql {
  if (access.by === 'all') return sql`${source.table} FINAL`;
  const ids =
    access.by === 'ids'
      ? sql`${value(access.ids, 'Array(UUID)')}`
      : sql`(SELECT id FROM (${newest(source, scope, query)}))`;
  return sql`(
  SELECT * FROM ${source.table} WHERE ${inProject(scope.projectId)} AND id IN ${ids} ORDER BY id, ver DESC LIMIT 1 BY id
)`;
}

function newest(source: ListSource, scope: ReadScope, query: ListQuery): Sql {
  if (!source.timeIndex) throw new Error(`${source.list.name} have no time index`);
  const { table, time } = source.timeIndex;
  const direction = directionOf(query);
  return sql`SELECT ${time}, id FROM ${table} WHERE ${inProject(scope.projectId)} ORDER BY project_id ${direction}, ${time} ${direction}, id ${direction} LIMIT ${indexed(query)}`;
}

/** Where the part of the index that is looked at ends, and how many entries that part has. */
function boundary(source: ListSource, scope: ReadScope, query: ListQuery, access: AccessPath): Sql {
  if (access.by !== 'time' || !source.timeIndex) return empty;
  const last = query.descending ? sql`min` : sql`max`;
  return sql`WITH (SELECT (${last}(${source.timeIndex.time}), count()) FROM (${newest(source, scope, query)})) AS boundary
`;
}

/** Entries looked at: one for every time a row's start changed, and duplicates that are not merged yet. */
function indexed(query: ListQuery): Sql {
  return sql`${value((query.offset + query.limit) * 8 + 200, 'UInt64')}`;
}

/** The order of a list. Nulls come last either way; in the order of the table's own key, reading stops with the page. */
function order(source: ListSource, query: ListQuery): Sql {
  const direction = directionOf(query);
  const ties = source.tieBreak.map((column) => sql`${column} ${direction}`);
  if (source.timeIndex === null && query.sort === source.list.defaultSort)
    return sql`ORDER BY ${join([sql`project_id ${direction}`, sql`started_at ${direction}`, ...ties], ', ')}`;
  const column = query.sort === 'created_at' ? source.createdVersion : source.columns[query.sort];
  if (!column) throw new Error(`no column for ${query.sort}`);
  return sql`ORDER BY ${join([sql`${column} ${direction} NULLS LAST`, ...ties], ', ')}`;
}

function directionOf(query: ListQuery): Sql {
  return query.descending ? sql`DESC` : sql`ASC`;
}

function window(query: ListQuery): Sql {
  return sql`LIMIT ${value(query.limit, 'UInt64')} OFFSET ${value(query.offset, 'UInt64')}`;
}

function allOf(parts: readonly Sql[]): Sql {
  return join(parts, '\n  AND ');
}
