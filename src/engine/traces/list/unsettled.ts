import { among } from '../read/reads-in-progress.js';
import { broughtToSessions, partsOfSessions, sessionFigureColumns, sessionFigures } from '../rollup/session-figures.js';
import { broughtBy, figureColumns, traceFigures } from '../rollup/trace-figures.js';
import { sql, value, type Sql } from '../clickhouse/client/sql.js';
import type { ReadRows } from '../read/row-reader.js';
import { inProject, unsettledOf, type ReadScope } from '../read/scope.js';
import { factsOf } from '../read/visibility.js';

/** Rows that are computed from facts, in place of whatever is stored of them. */
export interface Unsettled {
  readonly ids: Sql;
  readonly columns: readonly string[];
  readonly figures: Sql;
}

/** Traces that no round has stored as of the version that is read; null: there are none. @param wanted null: all */
export function unsettledTraces(scope: ReadScope, wanted: readonly string[] | null): Unsettled | null {
  const ids = unsettledOf(scope, wanted);
  return ids === null ? null : { ids, columns: figureColumns, figures: traceFigures(factsOf(scope, ids)) };
}

/** Sessions that no round has stored as of the version that is read; null: there are none. @param wanted null: all */
export function unsettledSessions(scope: ReadScope, wanted: readonly string[] | null): Unsettled | null {
  const { projectId, upTo, unsettledSessions = [] } = scope;
  const sessions = among(unsettledSessions, wanted);
  if (sessions.length === 0) return null;
  const ids = sql`${value(sessions, 'Array(UUID)')}`;
  const traces = unsettledOf(scope);
  const parts = partsOfSessions({
    sessions: sql`${inProject(projectId)} AND session_id IN ${ids}`,
    upTo: sql` AND s.ver <= ${value(upTo, 'UInt64')}`,
    tags: sql`tags`,
    ...(traces !== null && {
      unsettled: {
        traces,
        brought: broughtToSessions(traceFigures(factsOf(scope, traces), broughtBy)),
      },
    }),
  });
  return { ids, columns: sessionFigureColumns, figures: sessionFigures(sql`(\n  ${parts}\n) AS p`) };
}

/** Adds to a scope the sessions that its unsettled traces concern. */
export async function withSessions(scope: ReadScope, rows: ReadRows, signal?: AbortSignal): Promise<ReadScope> {
  const { unsettled = [], unsettledSessions = [] } = scope;
  const named = unsettled.length === 0 ? [] : await rows<{ id: string }>(sessionsNamed(scope), { signal });
  const concerned = new Set([...unsettledSessions, ...named.map(({ id }) => id)]);
  return { ...scope, unsettledSessions: [...concerned] };
}

/** Ids of the sessions that anything in an unsettled trace ever named. */
function sessionsNamed(scope: ReadScope): Sql {
  return sql`SELECT DISTINCT toString(session_id) AS id FROM facts
WHERE ${factsOf(scope, sql`${value(scope.unsettled ?? [], 'Array(UUID)')}`)} AND isNotNull(session_id)`;
}
