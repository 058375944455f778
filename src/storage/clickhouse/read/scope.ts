import type { Version } from '../commit/version-clock.js';
import { among } from './reads-in-progress.js';
import type { TimeRange } from './times.js';
import { empty, projectValue, sql, value, type Sql } from '../client/sql.js';

/** What is read: a project, in the state that it had at a version. */
export interface ReadScope {
  readonly projectId: string;
  readonly upTo: Version;
  /** Traces that are not rolled up as of this version: what is read of them comes from their facts. Absent: all are. */
  readonly unsettled?: readonly string[];
  /** Sessions that are not rolled up as of this version: posted, or named in an unsettled trace. Absent: all are. */
  readonly unsettledSessions?: readonly string[];
  /** When the spans started that may hold the text that is searched for; absent: at any time. */
  readonly within?: readonly TimeRange[];
}

export function inProject(projectId: string): Sql {
  return sql`project_id = ${projectValue(projectId)}`;
}

/**
 * The rows that count in the state that is read. Versions are unique per row, so one number tells, and what is being
 * committed or rolled up meanwhile changes nothing.
 */
export function current(scope: ReadScope): Sql {
  const last = sql`${value(scope.upTo, 'UInt64')}`;
  const unsettled = unsettledOf(scope);
  // `identity` keeps the index of `ver` out of it: nearly every granule passes, and asking them all takes most of a page's time.
  return sql`identity(ver) <= ${last}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE ${inProject(scope.projectId)} AND next_ver <= ${last})${
    unsettled === null ? empty : sql`\n  AND identity(ver) NOT IN (${replaced(scope, unsettled)})`
  }`;
}

/** Versions of spans of unsettled traces that newer ones took the place of. A row that is there twice has not replaced itself. */
function replaced(scope: ReadScope, unsettled: Sql): Sql {
  return sql`SELECT arrayJoin(arraySlice(arrayReverseSort(groupUniqArray(ver)), 2)) FROM facts
    WHERE ${factsOf(scope, unsettled)} AND row_type = 0 GROUP BY trace_id, id`;
}

/** The ids of unsettled traces as one array; null: there are none. @param wanted null: all traces */
export function unsettledOf({ unsettled = [] }: ReadScope, wanted: readonly string[] | null = null): Sql | null {
  const ids = among(unsettled, wanted);
  return ids.length === 0 ? null : sql`${value(ids, 'Array(UUID)')}`;
}

/** Conditions on `facts`: those of some traces, up to the version that is read. */
export function factsOf({ projectId, upTo }: ReadScope, traces: Sql): Sql {
  return sql`${inProject(projectId)} AND trace_id IN ${traces} AND ver <= ${value(upTo, 'UInt64')}`;
}
