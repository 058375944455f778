import type { AppliedFilter, ListQuery } from '../model/list/query.js';
import { empty, identifier, join, listOf, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { isOwnCall } from '../read/tags.js';
import { conditionOf } from './conditions.js';
import { leftOutOfPicked } from './experiment-filters.js';
import { traceSource, type ListSource, type TimeIndex } from './sources.js';
import { unsettledSessions, unsettledTraces } from './unsettled.js';

/** Pages up to here are looked for among the newest or oldest before all rows are read. */
const MAX_INDEXED_ROWS = 1000;

/** How the rows of a rollup are to be reached. */
export type AccessPath =
  /** All rows. */
  | { readonly by: 'all' }
  /**
   * The rows with these ids. `arePage`: they are the page that was asked for, in its order; `inOrder`: they are in the order of the list,
   * and not all may be found.
   */
  | { readonly by: 'ids'; readonly ids: readonly string[]; readonly arePage?: true; readonly inOrder?: true }
  /** The rows whose ids are in a set, and others that are not rolled up. */
  | { readonly by: 'set'; readonly set: Sql }
  /** The rows that the index has at the times asked for, and maybe others. */
  | Indexed<'times'>
  /** The newest or oldest of these rows, if the page is surely among them; otherwise fewer than asked for come back. */
  | Indexed<'edge'>;

interface Indexed<By> {
  readonly by: By;
  readonly query: ListQuery;
  readonly source: ListSource;
  readonly index: TimeIndex;
  /** Whether entries of what the list leaves out are not among those that are looked at; otherwise they are left out of the rows. */
  readonly meant?: true;
}

/** All rows of a list. */
export const ALL = { by: 'all' } as const;

/** The ways to a page, the cheapest first; each but the last may turn out too short. */
export function accessPathsOf(source: ListSource, query: ListQuery): readonly [AccessPath, ...AccessPath[]] {
  const ids = idsAskedFor(query);
  if (ids !== null) return [{ by: 'ids', ids }];
  const { timeIndex: index, list } = source;
  // Internal traces are not in the index.
  if (index === null || (list.hasInternal && query.internal !== 'left out')) return [ALL];
  const indexed = { query, source, index };
  const times = timesAskedFor(indexed);
  const { filters, tags, scores, search, experiments, experiment } = query;
  const others =
    filters.length > times.length ||
    tags.size > 0 ||
    scores.size > 0 ||
    search !== null ||
    experiment !== null ||
    experiments === 'only';
  const whole = times.length > 0 ? ({ by: 'times', ...indexed } as const) : ALL;
  const atEdge = !others && query.sort === list.defaultSort && query.offset + query.limit <= MAX_INDEXED_ROWS;
  return atEdge ? [{ by: 'edge', ...indexed }, whole] : [whole];
}

/** The ids of the only rows that a query can find, or of the only trace with such; null when it names none. */
export function idsAskedFor(query: ListQuery, field: 'id' | 'trace_id' = 'id'): readonly string[] | null {
  const id = query.filters.find(({ filter }) => filter.field === field);
  return id === undefined ? null : id.values.map(String);
}

/**
 * The newest version of every row, as a table. Few rows are picked by id, which reads a few granules; FINAL over all merges
 * what is not merged yet. Of traces that are not rolled up, whatever is stored is left out and their figures come from
 * their facts.
 */
export function rows(source: ListSource, scope: ReadScope, access: AccessPath = ALL): Sql {
  const ids = access.by === 'ids' ? access.ids : null;
  const unsettled = source === traceSource ? unsettledTraces(scope, ids) : unsettledSessions(scope, ids);
  if (unsettled === null) return stored(source, scope, access);
  const settled = sql` WHERE ${inProject(scope.projectId)} AND id NOT IN ${unsettled.ids}`;
  const columns = join(unsettled.columns.map(identifier), ', ');
  const internal = source.list.hasInternal;
  return sql`(
  SELECT ${columns}${internal ? sql`, internal` : empty} FROM ${stored(source, scope, access)}${settled}
  UNION ALL
  SELECT ${columns}${internal ? sql`, toUInt8(${isOwnCall}) AS internal` : empty} FROM (${unsettled.figures})
)`;
}

/** Whether a row is surely one that no other, which the index did not name, would come before. */
export function insideIndex(access: AccessPath): Sql[] {
  if (access.by !== 'edge') return [];
  const { query, index } = access;
  // Beyond the boundary of what was looked at there may be rows that were not.
  return [sql`(boundary.2 < ${looked(query)} OR ${index.time} ${query.descending ? sql`>` : sql`<`} boundary.1)`];
}

/** Where the part of the index that is looked at ends, and how many entries that part has: what a statement begins with. */
export function boundaryOf(scope: ReadScope, access: AccessPath): Sql {
  if (access.by !== 'edge') return empty;
  const last = access.query.descending ? sql`min` : sql`max`;
  return sql`WITH (SELECT (${last}(${access.index.time}), count()) FROM (${indexed(scope, access)})) AS boundary
`;
}

/** Ids as a set: many of them in the statement's text, as parameters go in the URL. */
export function idSet(ids: readonly string[]): Sql {
  return ids.length > 1000 ? listOf('UUID', ids) : sql`${value(ids, 'Array(UUID)')}`;
}

function stored(source: ListSource, scope: ReadScope, access: AccessPath): Sql {
  if (access.by === 'all') return sql`${source.table} FINAL`;
  return sql`(
  SELECT * FROM ${source.table} WHERE ${inProject(scope.projectId)} AND id IN ${idsReached(scope, access)} ORDER BY id, ver DESC LIMIT 1 BY id
)`;
}

function idsReached(scope: ReadScope, access: Exclude<AccessPath, { readonly by: 'all' }>): Sql {
  if (access.by === 'ids') return idSet(access.ids);
  return access.by === 'set' ? access.set : sql`(SELECT id FROM (${indexed(scope, access)}))`;
}

/** How many entries the index has at the times asked for, as `EXPLAIN ESTIMATE` counts them. */
export function entriesEstimated(scope: ReadScope, access: Indexed<'times'>): Sql {
  return sql`EXPLAIN ESTIMATE ${indexed(scope, access)}`;
}

/** Entries of an index. Each time that a row ever had is one, so that of the rows at some times none is missing. */
function indexed(scope: ReadScope, access: Indexed<'times' | 'edge'>): Sql {
  const { projectId } = scope;
  const { by, query, source } = access;
  const { table, time } = access.index;
  const times = timesAskedFor(access).map((applied) => sql` AND ${conditionOf(applied, source)}`);
  const entries = sql`SELECT ${time}, id FROM ${table} WHERE ${inProject(projectId)}${join(times, '')}`;
  if (by === 'times') return entries;
  const direction = query.descending ? sql`DESC` : sql`ASC`;
  const meant = access.meant === true ? leftOutOfPicked(sql`id`, scope, query).map((each) => sql` AND ${each}`) : [];
  return sql`${entries}${join(meant, '')} ORDER BY project_id ${direction}, ${time} ${direction}, id ${direction} LIMIT ${looked(query)}`;
}

/** How many entries are looked at: one for every time a row's start changed, and duplicates that are not merged yet. */
function looked(query: ListQuery): Sql {
  return sql`${value((query.offset + query.limit) * 8 + 200, 'UInt64')}`;
}

function timesAskedFor({ query, index }: Pick<Indexed<unknown>, 'query' | 'index'>): AppliedFilter[] {
  return query.filters.filter(({ filter }) => filter.field === index.field);
}
