import { empty, identifier, sql, type Sql } from '../clickhouse/client/sql.js';
import { broughtToSessions, partsOfSessions, sessionFigureColumns, sessionFigures } from '../rollup/session-figures.js';
import { wholeState } from '../rollup/row-version.js';
import { broughtBy, figureColumns, latest, traceFigures } from '../rollup/trace-figures.js';
import type { FigureTable } from './comparison.js';
import { ofProject, type Keys } from './keys.js';

const OF_ROW = new Set<string>(['project_id', 'id', 'gone']);
const isFigure = (column: string) => !OF_ROW.has(column);
const gone = sql`gone`;

export const TRACES: FigureTable = { table: 'traces', keys: ['id'], figures: figureColumns.filter(isFigure), gone };

export const SESSIONS: FigureTable = {
  table: 'sessions',
  keys: ['id'],
  figures: sessionFigureColumns.filter(isFigure),
  gone,
};

export const SESSION_PARTS: FigureTable = {
  table: 'session_traces',
  keys: ['session_id', 'trace_id'],
  figures: [
    ...['named', 'member', 'name', 'name_ver', 'tags', 'cost', 'duration_ms', 'error_count'],
    ...['started_at', 'ended_at', 'created_ver', 'input_tokens', 'output_tokens'],
  ],
  gone: sql`NOT named AND NOT member`,
};

/** The state that the row of a trace, and of what it brings to sessions, has to be of. */
const STATE = sql`,
  ${wholeState(sql`latest`)} AS state`;

/** The round that computed a session is known by its row alone. */
const ANY_STATE = sql`bitNot(toUInt128(0))`;

/** Conditions on `facts`: those of some traces. */
export function factsOf({ project, among }: Keys): Sql {
  return sql`${ofProject(project)} AND ${among(identifier('trace_id'))}`;
}

export function recountedTraces(keys: Keys): Sql {
  return traceFigures(factsOf(keys), {
    columns: STATE,
    aggregates: latest,
    facts: empty,
    tags: sql`trace_tags`,
  });
}

/** What traces bring to sessions. */
export function recountedParts(keys: Keys): Sql {
  const traces = traceFigures(factsOf(keys), {
    ...broughtBy,
    columns: sql`${broughtBy.columns}${STATE}`,
    aggregates: sql`${broughtBy.aggregates}${latest}`,
  });
  return broughtToSessions(
    traces,
    sql`,
  any(r.state) AS state`,
  );
}

/** Sessions, from what their traces are stored to bring. */
export function recountedSessions({ project, among }: Keys): Sql {
  const parts = partsOfSessions({
    sessions: sql`${ofProject(project)} AND ${among(identifier('session_id'))}`,
    tags: sql`tags`,
  });
  return sessionFigures(
    sql`(${parts}) AS p`,
    sql`
  ${ANY_STATE} AS state,`,
  );
}
