import { empty, sql, type Sql } from '../clickhouse/client/sql.js';
import { inProject } from '../read/scope.js';
import { objectRows, type Columns, type Objects } from './properties.js';
import { rows } from './rows.js';
import { traceSource, type ListSource } from './sources.js';

export interface ExtentRow {
  readonly traces: string;
  readonly spans: string;
  readonly sessions: string;
  readonly costs: string | null;
  readonly oldest: string | null;
  readonly newest: string | null;
}

/** How many there are of each kind, of the objects or in them. */
const COUNTS = {
  spans: { traces: sql`uniqExact(trace_of)`, spans: sql`count()`, sessions: sql`uniqExact(session_of)` },
  traces: { traces: sql`count()`, spans: sql`sum(spans_of)`, sessions: sql`uniqExact(session_of)` },
  sessions: { traces: sql`sum(traces_of)`, spans: sql`0`, sessions: sql`count()` },
} as const;

/** How much the objects are. */
export function extentOf(objects: Objects): Sql {
  const { name } = objects.source.list;
  const { traces, spans, sessions } = COUNTS[name];
  return sql`SELECT toString(${traces}) AS traces, toString(${spans}) AS spans, toString(${sessions}) AS sessions,
  toString(sum(cost_of)) AS costs, toString(minOrNull(at)) AS oldest, toString(maxOrNull(at)) AS newest
FROM (${objectRows(objects, columnsOf(objects.source))})`;
}

function columnsOf({ list, columns }: ListSource): Columns {
  const of = (name: string) => columns[name] ?? empty;
  const own = {
    spans: { trace_of: of('trace_id'), session_of: of('session_id') },
    traces: { spans_of: of('span_count'), session_of: of('session_id') },
    sessions: { traces_of: of('trace_count') },
  };
  return { ...own[list.name], cost_of: of('cost'), at: sql`toUnixTimestamp64Micro(${of('started_at')})` };
}

/** How many spans the traces of the sessions have. */
export function spansInSessions({ scope, matches }: Objects): Sql {
  return sql`SELECT toString(sum(span_count)) AS spans FROM ${rows(traceSource, scope)}
WHERE ${inProject(scope.projectId)} AND NOT gone AND session_id IN (${matches.beginning}SELECT id ${matches.from})`;
}
