import { empty, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, unsettledOf, type ReadScope } from './scope.js';

/*
 * Which of the stored versions count. Every read that has to tell them apart does so by one of these rules; what rounds
 * store by them is in rollup/.
 */

/**
 * The rows of `spans` that count in the state that is read. Versions are unique per row, so one number tells, and what is
 * being committed or rolled up meanwhile changes nothing.
 */
export function current(scope: ReadScope): Sql {
  const last = sql`${value(scope.upTo, 'UInt64')}`;
  const unsettled = unsettledOf(scope);
  const since = writtenSince(scope);
  // `identity` keeps the index of `ver` out of it: nearly every granule passes, and asking them all takes most of a page's time.
  return sql`identity(ver) <= ${last}${since}
  AND identity(ver) NOT IN (${supersededBy(sql`${inProject(scope.projectId)}${since}`, last)})${
    unsettled === null ? empty : sql`\n  AND identity(ver) NOT IN (${replaced(scope, unsettled)})`
  }`;
}

/**
 * Versions of spans that count no more at a version: by then newer ones had taken their place, or they were deleted.
 * @param among conditions on `superseded`: the project, and where few versions are asked about, which
 */
export function supersededBy(among: Sql, version: Sql): Sql {
  return sql`SELECT ver FROM superseded WHERE ${among} AND next_ver <= ${version}`;
}

/** Versions of spans of unsettled traces that no longer count. */
function replaced(scope: ReadScope, unsettled: Sql): Sql {
  const facts = successors(sql`row_type`, sql`${factsOf(scope, unsettled)}${writtenSince(scope)}`);
  return sql`SELECT ver FROM (${facts}) WHERE row_type = 0 AND next_ver != 0 AND next_write != ver`;
}

/** What was written later than the versions that are read can only be replaced by what was, too. */
function writtenSince({ since }: ReadScope): Sql {
  return since === undefined ? empty : sql` AND ver > ${value(since, 'UInt64')}`;
}

/** Conditions on `facts`: those of some traces, up to the version that is read. */
export function factsOf({ projectId, upTo }: ReadScope, traces: Sql): Sql {
  return sql`${inProject(projectId)} AND trace_id IN ${traces} AND ver <= ${value(upTo, 'UInt64')}`;
}

/**
 * Facts, each with `next_ver`, the version that ended it: the next write of the same thing, or the removal of its trace,
 * whichever came first; 0 while it counts. Where a row is stored twice, `next_write = ver` tells the second one, which is to
 * be left out.
 * @param columns further columns
 * @param facts conditions on `facts`; of each trace, all facts from some version on have to meet them
 */
export function successors(columns: Sql, facts: Sql): Sql {
  return sql`SELECT ver, ${columns},
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE ${facts}`;
}

/**
 * The facts that count: of each span and posted trace the latest, unless it is deleted or its trace was removed since.
 * @param columns columns of facts, except for `ver` and `row_type`, which come with them
 * @param facts as of {@link successors}
 */
export function standing(columns: Sql, facts: Sql): Sql {
  return sql`SELECT * FROM (
      ${successors(sql`row_type, deleted, ${columns}`, facts)}
    ) WHERE next_ver = 0 AND NOT deleted AND row_type < 2`;
}

/** Whether the newest row of a group, the writes of one posted session, is a tombstone. */
export const isDeleted = sql`argMax(deleted, ver)`;

/** The version of a span that its client wrote, also where the row was written when its price was recalculated. */
export const written = sql`if(origin_ver = 0, ver, origin_ver)`;

/** The version that the `created_at` of a span stands for, also where columns of it were filled in later. */
export const receivedVersion = sql`if(received_ver = 0, ver, received_ver)`;

/** A row, if the trace or session is rolled up and not deleted. @param table `traces` or `sessions` */
export function rolledUp(table: Sql, projectId: string, id: string): Sql {
  return sql`SELECT 1 FROM (SELECT * FROM ${table} WHERE ${inProject(projectId)} AND id = ${value(id, 'UUID')} ORDER BY ver DESC LIMIT 1) WHERE NOT gone`;
}

/**
 * Ids of the traces that belong to sessions.
 * @param sessions a condition on their ids
 * @param condition which: `member` now, or `named` in it by any write
 */
export function tracesOfSessions(projectId: string, sessions: Sql, condition: Sql = sql`member`): Sql {
  return sql`SELECT trace_id FROM session_traces FINAL WHERE ${inProject(projectId)} AND session_id ${sessions} AND ${condition}`;
}
