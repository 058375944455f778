import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { LONG_STATEMENTS } from '../clickhouse/client/long-statements.js';
import { listOf, sql, type Sql } from '../clickhouse/client/sql.js';
import { written } from '../read/visibility.js';

/** The condition that a column has one of some versions. */
export type Among = (column: Sql) => Sql;

/**
 * The first write of a trace, and the first that named a session, tell when these were created. Where they are to be purged, a
 * bare row is written in the place of each, which names the session and, as `deleted`, says nothing else.
 * @param among the versions that are to be purged
 * @returns those of which the bare row has to stay
 */
export async function keepFirstWrites(client: ClickHouseClient, among: Among, signal: AbortSignal): Promise<string[]> {
  const first = among(sql`created_ver`);
  const here = await versionsOf(
    client,
    sql`SELECT DISTINCT toString(created_ver) AS version FROM traces WHERE ${first}
     UNION DISTINCT SELECT DISTINCT toString(created_ver) AS version FROM session_traces WHERE ${first}`,
    signal,
  );
  const kept = [...here, ...(await firstElsewhere(client, among, signal))];
  if (kept.length > 0) await writeBare(client, kept, signal);
  return kept;
}

/**
 * Those of rows that were written elsewhere, or whose figures were recalculated, and that alone tell when a session was first
 * named: by the version at which they were first written. Few batches have any such row.
 */
async function firstElsewhere(client: ClickHouseClient, among: Among, signal: AbortSignal): Promise<string[]> {
  const traces = sql`SELECT trace_id FROM facts WHERE ${among(sql`ver`)} AND origin_ver != 0 AND isNotNull(session_id)`;
  const any = await client.query(sql`${traces} LIMIT 1`, { settings: LONG_STATEMENTS, signal });
  if (any.length === 0) return [];
  return versionsOf(
    client,
    sql`SELECT toString(min(f.ver)) AS version FROM facts AS f
     WHERE f.trace_id IN (${traces}) AND isNotNull(f.session_id)
       AND (f.project_id, f.trace_id, assumeNotNull(f.session_id), ${written}) IN (
         SELECT project_id, trace_id, session_id, created_ver FROM session_traces WHERE trace_id IN (${traces}))
     GROUP BY f.project_id, f.trace_id, f.session_id, ${written}
     HAVING countIf(NOT (${among(sql`f.ver`)})) = 0`,
    signal,
  );
}

/**
 * As {@link keepFirstWrites}, for whole traces. Their tombstones remember when they were created, so that only those facts matter
 * that tell when a session was made that is there, or that a trace named which was written to again.
 * @param facts conditions on the facts that are to be purged, all of one project
 * @param project a condition on the project
 * @param traces a list of the traces
 */
export async function keepFirstNamings(
  client: ClickHouseClient,
  { facts, project, traces }: { readonly facts: Sql; readonly project: Sql; readonly traces: Sql },
  signal: AbortSignal,
): Promise<string[]> {
  const namings = sql`SELECT trace_id, session_id, created_ver FROM session_traces WHERE ${project} AND trace_id IN ${traces}`;
  const telling = sql`SELECT id, created_ver FROM sessions FINAL WHERE ${project} AND NOT gone AND id IN (SELECT session_id FROM (${namings}))`;
  const again = sql`SELECT id FROM traces FINAL WHERE ${project} AND NOT gone AND id IN ${traces}`;
  const kept = await versionsOf(
    client,
    sql`SELECT toString(min(f.ver)) AS version FROM facts AS f
     WHERE ${facts} AND isNotNull(f.session_id) AND (f.trace_id, assumeNotNull(f.session_id), ${written}) IN (
       SELECT trace_id, session_id, created_ver FROM (${namings}) WHERE (session_id, created_ver) IN (${telling}) OR trace_id IN (${again}))
     GROUP BY f.trace_id, f.session_id, ${written}`,
    signal,
  );
  if (kept.length > 0) await writeBare(client, kept, signal);
  return kept;
}

async function writeBare(client: ClickHouseClient, kept: readonly string[], signal: AbortSignal): Promise<void> {
  const first = sql`ver IN ${listOf('UInt64', kept)}`;
  await client.command(
    sql`INSERT INTO facts (project_id, trace_id, row_type, id, ver, deleted, session_id, origin_ver)
     SELECT project_id, trace_id, row_type, id, ver, 1, session_id, origin_ver FROM facts
     WHERE ${first} AND NOT deleted AND ver NOT IN (SELECT ver FROM facts WHERE ${first} AND deleted) LIMIT 1 BY ver`,
    { settings: LONG_STATEMENTS, signal },
  );
}

/** @param statement answers with one column, `version` */
export async function versionsOf(client: ClickHouseClient, statement: Sql, signal: AbortSignal): Promise<string[]> {
  const rows = await client.query<{ version: string }>(statement, { settings: LONG_STATEMENTS, signal });
  return rows.map(({ version }) => version);
}
