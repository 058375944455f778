import type { CommittedState } from '../reads-in-progress.js';
import { broughtToSessions, partsOfSessions, sessionFigureColumns, sessionFigures } from '../rollup/session-figures.js';
import { broughtBy, figureColumns, traceFigures } from '../rollup/trace-figures.js';
import { sql, value, type Sql } from '../sql.js';
import { factsOf, inProject, unsettledOf, type ReadScope } from './scope.js';

/** Rows that are computed from facts, in place of whatever is stored of them. */
export interface Unsettled {
  readonly ids: Sql;
  readonly columns: readonly string[];
  readonly figures: Sql;
}

/** Traces that no round has stored as of the version that is read; null: there are none. @param among null: all */
export function unsettledTraces(scope: ReadScope, among: readonly string[] | null): Unsettled | null {
  const ids = unsettledOf(scope, among);
  return ids === null ? null : { ids, columns: figureColumns, figures: traceFigures(factsOf(scope, ids)) };
}

/** Sessions that no round has stored as of the version that is read; null: there are none. @param among null: all */
export function unsettledSessions(scope: ReadScope, among: readonly string[] | null): Unsettled | null {
  const { projectId, upTo, unsettledSessions = [] } = scope;
  const wanted = unsettledSessions.filter((id) => among?.includes(id) ?? true);
  if (wanted.length === 0) return null;
  const ids = sql`${value(wanted, 'Array(UUID)')}`;
  const traces = unsettledOf(scope);
  const parts = partsOfSessions({
    sessions: sql`${inProject(projectId)} AND session_id IN ${ids}`,
    upTo: sql` AND s.ver <= ${value(upTo, 'UInt64')}`,
    tags: sql`tags`,
    ...(traces !== null && {
      unsettled: {
        traces,
        brought: broughtToSessions(traceFigures(factsOf(scope, traces), broughtBy), sql`toUInt128(0)`),
      },
    }),
  });
  return { ids, columns: sessionFigureColumns, figures: sessionFigures(sql`(\n  ${parts}\n) AS p`) };
}

/** Ids of the sessions that anything in an unsettled trace ever named. */
export function sessionsNamed(scope: ReadScope): Sql {
  return sql`SELECT DISTINCT toString(session_id) AS id FROM facts
WHERE ${factsOf(scope, sql`${value(scope.unsettled ?? [], 'Array(UUID)')}`)} AND isNotNull(session_id)`;
}

/** What spans are read from. @param traces the only ones whose spans are; null: all */
export function scopeOf(
  projectId: string,
  { upTo, traces: unsettled, sessions: unsettledSessions }: CommittedState,
  traces: readonly string[] | null,
): ReadScope {
  const wanted = traces === null ? unsettled : unsettled.filter((id) => traces.includes(id));
  return { projectId, upTo, unsettled: wanted, unsettledSessions };
}

/** What figures are read from. @param traces the only ones that are; null: all */
export function scopeOfFigures(projectId: string, state: CommittedState, traces: readonly string[] | null): ReadScope {
  const known = state.traces.filter((id) => !state.aside.includes(id));
  return scopeOf(projectId, { ...state, traces: known }, traces);
}
