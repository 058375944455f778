import type { AskedOfSpan, ListQuery } from '../model/list/query.js';
import { empty, join, listOf, literal, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { jsonArray, jsonLines, type JsonRows } from '../read/json-rows.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { tagged } from '../read/tags.js';
import { beyond } from '../read/times.js';
import { current } from '../read/visibility.js';
import { conditions, textFound } from './conditions.js';
import { experimentConditions } from './experiment-filters.js';
import { asksOfHeld, boundsOf, heldConditions, spanTimes, type AskedAbout } from './descendant-filters.js';
import { tracesIn } from './membership.js';
import { scoreConditions, scoreJoin, scoreOrder } from './score-filters.js';
import { shownScoresJoin } from './shown-scores.js';
import type { TopScores } from './top-scores.js';
import { boundaryOf, idsAskedFor, idSet, insideIndex, rows, type AccessPath } from './rows.js';
import { shown, spanSource, type ListSource } from './sources.js';

/** Bytes of a JSON array of spans. */
export function spanPage(scope: ReadScope, query: ListQuery): Sql {
  return spanPageOf(scope, query, jsonArray(...shown(spanSource, query)));
}

/** {@link spanPage} as JSON lines, with the columns of `extra`. */
export function spanLines(scope: ReadScope, query: ListQuery, extra: readonly Sql[]): Sql {
  return spanPageOf(scope, query, jsonLines(...shown(spanSource, query), extra));
}

function spanPageOf(scope: ReadScope, query: ListQuery, { selected, format }: JsonRows): Sql {
  return sql`${spanBounds(scope, query)}SELECT ${selected}
FROM spans${scoreJoin(spanSource, scope, query)}
WHERE ${spanConditions(scope, query)}
${order(spanSource, query)}
${window(query)}
${format}`;
}

/** Where a span of a page lies, so that what it holds is found without a search. */
export interface SpanPlace {
  readonly place_id: string;
  readonly place_ver: string;
  readonly place_time: string;
}

/**
 * The places of the spans of a page.
 * @param top the only scores of those that are found, if they are sorted by scores
 * @param further conditions beside those of the query
 */
export function spanPlaces(scope: ReadScope, query: ListQuery, top?: TopScores, further: readonly Sql[] = []): Sql {
  const ids = top && idSet(top.ids);
  return sql`${spanBounds(scope, query)}SELECT toString(id) AS place_id, toString(ver) AS place_ver, toString(toUnixTimestamp64Micro(started_at)) AS place_time
FROM spans${scoreJoin(spanSource, scope, query, ids, top)}
WHERE ${allOf([spanConditions(scope, query), ...(ids === undefined ? [] : [sql`id IN ${ids}`]), ...further])}
${order(spanSource, query)}
${window(query)}`;
}

/** {@link spanPage}, of the spans of a page that was found, in their order, with their scores. */
export function spanPageAt(scope: ReadScope, query: ListQuery, places: readonly SpanPlace[]): Sql {
  const { selected, format } = jsonArray(...shown(spanSource, query));
  const of = (column: keyof SpanPlace) => places.map((place) => place[column]);
  const versions = listOf('UInt64', of('place_ver'));
  const times = sql`SELECT fromUnixTimestamp64Micro(arrayJoin(${listOf('Int64', of('place_time'))}), 'UTC')`;
  return sql`SELECT ${selected}
FROM spans${shownScoresJoin(scope, query, idSet(of('place_id')))}
WHERE ${inProject(scope.projectId)} AND started_at IN (${times}) AND ver IN ${versions}
ORDER BY indexOf(${versions}, ver)
${format}`;
}

/** All that a query finds, whatever its page: a statement begins with `beginning`, and has `from` behind what it selects. */
export interface Matches {
  readonly beginning: Sql;
  readonly from: Sql;
}

export function spanMatches(scope: ReadScope, query: ListQuery): Matches {
  return { beginning: spanBounds(scope, query), from: sql`FROM spans WHERE ${spanConditions(scope, query)}` };
}

export function countOf({ beginning, from }: Matches): Sql {
  return sql`${beginning}SELECT count() AS total ${from}`;
}

/** Whether there are so many rows: reading stops with them, in whatever order. */
export function hasSpans(scope: ReadScope, query: ListQuery, rows: number): Sql {
  return sql`${spanBounds(scope, query)}SELECT count() = ${value(rows, 'UInt64')} AS enough
FROM (SELECT 1 FROM spans WHERE ${spanConditions(scope, query)} LIMIT ${value(rows, 'UInt64')})`;
}

/** How many spans the indexes leave that may have one of the tags of a query, of any version. */
export function spansEstimated(scope: ReadScope, { tags }: ListQuery): Sql {
  const any = join(
    [...tags].map(([key, values]) => tagged(key, values)),
    ' OR ',
  );
  return sql`EXPLAIN ESTIMATE SELECT trace_id FROM spans WHERE ${inProject(scope.projectId)} AND (${any})`;
}

/** Conditions on `spans`, for a statement that begins with {@link spanBounds}. */
export function spanConditions(scope: ReadScope, query: ListQuery): Sql {
  const bounds = isBounded(query) ? BOUNDS : [];
  const search = query.search === null ? [] : [textFound(query.search, scope.within)];
  return allOf([
    inProject(scope.projectId),
    ...bounds,
    ...(query.behind == null ? [] : [sql`(${beyond(query.behind, query.descending)})`]),
    ...rowConditions(query),
    ...relatedConditions(scope, query),
    ...experimentConditions(spanSource, scope, query),
    ...(query.inTracesWith ?? []).map((asked, index) => sql`trace_id IN (${tracesWith(scope, query, asked, index)})`),
    ...search,
    current(scope),
  ]);
}

/** What is asked of what belongs to a span: its session, and its scores. */
function relatedConditions(scope: ReadScope, asked: Omit<AskedOfSpan, 'search'>): Sql[] {
  const session = sessionAskedFor(asked);
  return [
    ...(session === null ? [] : [sql`trace_id ${ofSessionNamed(scope, session)}`]),
    ...scoreConditions(spanSource, scope, asked),
  ];
}

/** Traces with a span that meets what a query asks of the traces of its spans. @param nth which of these */
function tracesWith(scope: ReadScope, query: ListQuery, asked: AskedOfSpan, nth: number): Sql {
  const traces = tracesAskedFor(scope, query);
  return sql`SELECT trace_id FROM spans WHERE ${allOf([
    inProject(scope.projectId),
    ...(traces === null ? [] : [...BOUNDS, sql`trace_id ${traces}`]),
    ...askedOfRow(asked),
    ...relatedConditions(scope, asked),
    ...(asked.search === null ? [] : [textFound(asked.search, scope.withinTraces?.[nth])]),
    current(scope),
  ])}`;
}

const BOUNDS = [sql`started_at >= bounds.1`, sql`started_at <= bounds.2`];

/** Whether a query names the traces whose spans it is about. */
function isBounded(query: ListQuery): boolean {
  return sessionAskedFor(query) !== null || idsAskedFor(query, 'trace_id') !== null;
}

/** Whether a query finds a row of `spans`, by what stands in that row alone. */
export function spanFound(query: ListQuery): Sql {
  return allOf([sql`1`, ...rowConditions(query)]);
}

function rowConditions(query: ListQuery): Sql[] {
  return [...internal(query), ...askedOfRow(query)];
}

function askedOfRow(asked: Pick<AskedOfSpan, 'filters' | 'tags'>): Sql[] {
  return [...conditions(asked, spanSource), ...[...asked.tags].map(([key, values]) => tagged(key, values))];
}

/** The spans of some traces are found by their times, which their facts know, in a table ordered by time. */
export function spanBounds(scope: ReadScope, query: ListQuery): Sql {
  const traces = tracesAskedFor(scope, query);
  return traces === null ? empty : sql`WITH ${spanTimes(scope, traces)} AS bounds\n`;
}

/** A condition on the traces whose spans alone are asked for; null: there is none. */
function tracesAskedFor(scope: ReadScope, query: ListQuery): Sql | null {
  const trace = idsAskedFor(query, 'trace_id');
  if (trace !== null) return trace.length === 1 ? sql`= ${value(trace[0], 'UUID')}` : sql`IN ${idSet(trace)}`;
  const session = sessionAskedFor(query);
  return session === null ? null : ofSessionNamed(scope, session);
}

/** The same condition, for the traces of a session. */
function ofSessionNamed(scope: ReadScope, session: string): Sql {
  return sql`IN ${tracesIn(scope, sql`(${value(session, 'UUID')})`)}`;
}

/** The session whose spans are asked for. */
export function sessionAskedFor(query: Pick<ListQuery, 'filters'>): string | null {
  const session = query.filters.find(({ filter }) => filter.comparison === 'inSession');
  return session === undefined ? null : String(session.values[0]);
}

/** Rows of `traces` or `sessions` as JSON lines, with the columns of `extra`. */
export function rollupPage(
  source: ListSource,
  scope: ReadScope,
  query: ListQuery,
  access: AccessPath,
  extra: readonly Sql[] = [],
): Sql {
  const { selected, format } = jsonLines(...shown(source, query), extra);
  const ids = idsOf(access);
  if (access.by === 'ids' && access.arePage === true)
    return sql`SELECT ${selected}
FROM ${rows(source, scope, access)}
WHERE ${inProject(scope.projectId)} AND NOT gone
ORDER BY indexOf(${ids ?? empty}, id)
${format}`;
  return sql`${beginning(source, scope, query, access)}SELECT ${selected}
FROM ${rows(source, scope, access)}${isInOrder(access) ? empty : scoreJoin(source, scope, query, ids)}
WHERE ${rollupConditions(source, scope, query, access)}
${orderOf(source, query, access)}
${window(query)}
${format}`;
}

export function rollupMatches(source: ListSource, scope: ReadScope, query: ListQuery, access: AccessPath): Matches {
  const conditions = rollupConditions(source, scope, query, access);
  return {
    beginning: beginning(source, scope, query, access),
    from: sql`FROM ${rows(source, scope, access)} WHERE ${conditions}`,
  };
}

/** Ids of a page of a list, in its order. @param top as of {@link spanPlaces} */
export function idPage(
  source: ListSource,
  scope: ReadScope,
  query: ListQuery,
  access: AccessPath,
  top?: TopScores,
): Sql {
  const ids = idsOf(access);
  return sql`${beginning(source, scope, query, access)}SELECT id FROM ${rows(source, scope, access)}${isInOrder(access) ? empty : scoreJoin(source, scope, query, ids, top)}
WHERE ${rollupConditions(source, scope, query, access)}
${orderOf(source, query, access)}
${window(query)}`;
}

/** Which of these traces, or sessions, meet what is asked of what they hold. */
export function idsHolding(source: ListSource, scope: ReadScope, query: ListQuery, ids: readonly string[]): Sql {
  const asked = { ids: sql`(${join(ids.map(literal), ', ')})` };
  return sql`${boundsOf(source, scope, asked)}SELECT id FROM ${rows(source, scope, { by: 'ids', ids })}
WHERE ${allOf([inProject(scope.projectId), sql`NOT gone`, ...heldConditions(source, scope, query, asked)])}`;
}

function rollupConditions(source: ListSource, scope: ReadScope, query: ListQuery, access: AccessPath): Sql {
  return allOf([
    inProject(scope.projectId),
    sql`NOT gone`,
    ...insideIndex(access),
    ...(source.list.hasInternal ? [...internal(query), ...experimentConditions(source, scope, query)] : []),
    ...conditions(query, source),
    ...scoreConditions(source, scope, query, idsOf(access)),
    ...heldConditions(source, scope, query, askedAbout(query, access)),
  ]);
}

/** What a statement with {@link rollupConditions} begins with. */
function beginning(source: ListSource, scope: ReadScope, query: ListQuery, access: AccessPath): Sql {
  const asked = askedAbout(query, access);
  return asked === null ? boundaryOf(scope, access) : boundsOf(source, scope, asked);
}

/** The only objects that may be found, where it matters what they hold; null: any may. */
function askedAbout(query: ListQuery, access: AccessPath): AskedAbout | null {
  const ids = idsOf(access);
  return ids === undefined || !asksOfHeld(query) ? null : { ids };
}

/** The set of the only rows that are reached; undefined: others may be. */
function idsOf(access: AccessPath): Sql | undefined {
  return access.by === 'ids' ? idSet(access.ids) : undefined;
}

/** Which of the server's own calls of models are listed. */
function internal({ internal: listed }: ListQuery): Sql[] {
  if (listed === 'included') return [];
  return [listed === 'only' ? sql`internal` : sql`NOT internal`];
}

const isInOrder = (access: AccessPath) => access.by === 'ids' && access.inOrder === true;

function orderOf(source: ListSource, query: ListQuery, access: AccessPath): Sql {
  return isInOrder(access) ? sql`ORDER BY indexOf(${idsOf(access) ?? empty}, id)` : order(source, query);
}

/** The order of a list. Nulls come last either way; in the order of the table's own key, reading stops with the page. */
function order(source: ListSource, query: ListQuery): Sql {
  const direction = query.descending ? sql`DESC` : sql`ASC`;
  const byScore = scoreOrder(query);
  // Scores know the ids of spans alone.
  const tieBreak = byScore === null ? source.tieBreak : source.tieBreak.toReversed();
  const ties = tieBreak.map((column) => sql`${column} ${direction}`);
  if (source.timeIndex === null && query.sort === source.list.defaultSort)
    return sql`ORDER BY ${join([sql`project_id ${direction}`, sql`started_at ${direction}`, ...ties], ', ')}`;
  if (byScore !== null)
    return sql`ORDER BY ${join([...byScore.map((column) => sql`${column} ${direction} NULLS LAST`), ...ties], ', ')}`;
  const column = query.sort === 'created_at' ? source.createdVersion : source.columns[query.sort];
  if (!column) throw new Error(`no column for ${query.sort}`);
  return sql`ORDER BY ${join([sql`${column} ${direction} NULLS LAST`, ...ties], ', ')}`;
}

function window(query: ListQuery): Sql {
  return sql`LIMIT ${value(query.limit, 'UInt64')} OFFSET ${value(query.offset, 'UInt64')}`;
}

function allOf(parts: readonly Sql[]): Sql {
  return join(parts, '\n  AND ');
}
