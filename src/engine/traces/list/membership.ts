import { empty, sql, type Sql } from '../clickhouse/client/sql.js';
import { inProject, unsettledOf, type ReadScope } from '../read/scope.js';
import { factsOf } from '../read/visibility.js';
import { traceFigures } from '../rollup/trace-figures.js';

/** Which memberships are read: of these sessions, of these traces. Absent: of all. */
export interface MembershipsOf {
  readonly sessions?: Sql;
  readonly traces?: Sql;
}

/**
 * Which traces belong to which sessions in the state that is read, as rows of `session_id` and `trace_id`: stored ones, and
 * of traces that no round has stored yet what their facts say.
 */
export function memberships(scope: ReadScope, { sessions, traces }: MembershipsOf): Sql {
  const { aside = [] } = scope;
  const unsettled = unsettledOf({ ...scope, unsettled: scope.unsettled?.filter((id) => !aside.includes(id)) ?? [] });
  const of = (column: Sql, ids: Sql | undefined) => (ids === undefined ? empty : sql` AND ${column} IN ${ids}`);
  const stored = sql`SELECT session_id, trace_id FROM session_traces FINAL
  WHERE ${inProject(scope.projectId)} AND member${of(sql`session_id`, sessions)}${of(sql`trace_id`, traces)}`;
  if (unsettled === null) return stored;
  const figures = traceFigures(factsOf(scope, unsettled), SESSION_ALONE);
  return sql`${stored} AND trace_id NOT IN ${unsettled}
  UNION ALL
  SELECT assumeNotNull(session_id) AS session_id, id AS trace_id FROM (${figures})
  WHERE NOT gone AND isNotNull(session_id)${of(sql`session_id`, sessions)}${of(sql`id`, traces)}`;
}

/** Ids of the traces that belong to some sessions. */
export function tracesIn(scope: ReadScope, sessions: Sql): Sql {
  return sql`(SELECT trace_id FROM (${memberships(scope, { sessions })}))`;
}

const SESSION_ALONE = {
  figures: ['gone', 'session_id'],
  columns: empty,
  aggregates: empty,
  facts: empty,
  tags: sql`trace_tags`,
} as const;
