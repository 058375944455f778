import type { SpanPlace } from '../model/judged/span-reader.js';
import type { FoundWhole, WholeKind } from '../model/judged/whole-reader.js';
import { listOf, sql, value, type Sql } from '../clickhouse/client/sql.js';
import type { Wanted } from '../model/judged/matching-spans.js';
import type { ReadRows } from '../read/row-reader.js';
import { inProject } from '../read/scope.js';
import { beyond } from '../read/times.js';
import { written } from '../read/visibility.js';

/** Traces whose sessions one statement looks up. */
const TRACES_AT_ONCE = 500;
/** The most statements of one search: where few sessions have very many traces, it ends with those that it found. */
const MAX_STATEMENTS = 20;

/** Which spans are meant. */
export interface Spans {
  readonly projectId: string;
  /** All conditions on `spans`, in a state that is rolled up where sessions are asked for. */
  readonly where: Sql;
  readonly signal?: AbortSignal | undefined;
}

/** The traces or sessions of some spans, the one of the span that started last first, each once with this span. */
export async function latestWholes(
  rows: ReadRows,
  kind: WholeKind,
  spans: Spans,
  limit: number,
): Promise<FoundWhole[]> {
  if (kind === 'trace') return (await latestOfTraces(rows, spans, limit)).map(ofTrace);
  const found = new Map<string, FoundWhole>();
  let where = spans.where;
  for (let statements = 0; statements < MAX_STATEMENTS && found.size < limit; statements += 1) {
    const page = await latestOfTraces(rows, { ...spans, where }, TRACES_AT_ONCE);
    const sessions = await sessionsOf(rows, spans, ids(page));
    for (const span of page) {
      const id = sessions.get(span.trace_id);
      if (id !== undefined && !found.has(id) && found.size < limit) found.set(id, { id, span });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < TRACES_AT_ONCE) break;
    const { span_started_at: started_at, trace_id, span_id: id } = last;
    where = sql`${spans.where} AND ${beyond({ started_at, trace_id, id }, true)}`;
  }
  return [...found.values()];
}

/** Arrivals of spans that are looked at in one trace. */
const ARRIVALS = 1_000;

/** How many traces or sessions some spans are in, and how many evaluations these would have had. @param again absent: one each */
export function countOfWholes(
  kind: WholeKind,
  { projectId, where }: Spans,
  { quiet, most }: NonNullable<Wanted['again']> = { quiet: 0, most: 1 },
): Sql {
  const traces = sql`SELECT trace_id, groupArray(${value(ARRIVALS, 'UInt64')})(${written}) AS arrivals FROM spans WHERE ${where} GROUP BY trace_id`;
  const ofSessions = sql`SELECT arrayFlatten(groupArray(of.arrivals)) AS arrivals
  FROM (${traces}) AS of INNER JOIN (${newestSessions(projectId, sql`(SELECT trace_id FROM spans WHERE ${where})`)}) AS named ON named.trace = of.trace_id
  WHERE isNotNull(session) GROUP BY session`;
  const pauses = sql`arrayCount(gap -> gap > ${value(quiet, 'Int64')}, arrayDifference(arraySort(arrivals)))`;
  return sql`SELECT toString(count()) AS subjects, toString(sum(least(${value(most, 'UInt64')}, 1 + ${pauses}))) AS evaluations
FROM (${kind === 'trace' ? traces : ofSessions})`;
}

/** The sessions of traces that have one, by trace, as they are rolled up. */
export async function sessionsOf(
  rows: ReadRows,
  { projectId, signal }: Omit<Spans, 'where'>,
  traces: readonly string[],
  project: Sql = inProject(projectId),
): Promise<Map<string, string>> {
  const sessions = new Map<string, string>();
  for (let from = 0; from < traces.length; from += TRACES_AT_ONCE) {
    const some = listOf('UUID', traces.slice(from, from + TRACES_AT_ONCE));
    const found = await rows<{ trace: string; session: string }>(
      sql`SELECT toString(trace) AS trace, toString(session) AS session FROM (${newestSessions(projectId, some, project)}) WHERE isNotNull(session)`,
      { signal },
    );
    for (const { trace, session } of found) sessions.set(trace, session);
  }
  return sessions;
}

/** The session of each trace, null where it has none. A tuple, as `argMax` leaves out what is null. */
function newestSessions(projectId: string, traces: Sql, project: Sql = inProject(projectId)): Sql {
  return sql`SELECT id AS trace, argMax((session_id, gone), ver) AS newest, if(newest.2, NULL, newest.1) AS session
FROM traces WHERE ${project} AND id IN ${traces} GROUP BY id`;
}

async function latestOfTraces(rows: ReadRows, { where, signal }: Spans, limit: number): Promise<SpanPlace[]> {
  const found = await rows<{ span: string; trace: string; started: string }>(
    sql`SELECT toString(id) AS span, toString(trace_id) AS trace, toString(toUnixTimestamp64Micro(started_at)) AS started
FROM spans WHERE ${where}
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC LIMIT 1 BY trace_id LIMIT ${value(limit, 'UInt64')}`,
    { signal },
  );
  return found.map(({ span, trace, started }) => ({
    span_id: span,
    trace_id: trace,
    span_started_at: Number(started),
  }));
}

function ofTrace(span: SpanPlace): FoundWhole {
  return { id: span.trace_id, span };
}

function ids(page: readonly SpanPlace[]): string[] {
  return [...new Set(page.map(({ trace_id }) => trace_id))];
}
