import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteVersions, MUTATIONS_END_WITHIN_MS } from '../clickhouse/client/mutations.js';
import { statementsEnded } from '../clickhouse/client/running-statements.js';
import { identifier, join, number, sql, type Sql } from '../clickhouse/client/sql.js';
import { reconcileMarked } from './marked-spans.js';
import type { Version } from './version-clock.js';

/** How many versions one statement names: far below the longest statement that ClickHouse takes. */
const VERSIONS_AT_ONCE = 5_000;
/** Facts with large tags are copied a few at a time, whatever memory the engine has. */
const SMALL_BLOCKS = { min_insert_block_size_bytes: '16777216', max_insert_threads: '1' } as const;

/**
 * Waits for inserts that run now: rows stored later, by one whose answer was lost, would never be rolled up.
 * @throws as {@link statementsEnded}
 */
export function insertsEnded(client: ClickHouseClient): Promise<void> {
  return statementsEnded(client, '^INSERT INTO .(spans|facts|session_statements|scores)\\b');
}

/**
 * Makes facts, and the index of experiments, agree with spans. A span and its fact are written by one insert, but not at one instant: a crash in between
 * leaves one without the other. The span's own row decides what was written.
 */
export async function reconcileFacts(client: ClickHouseClient, after: Version): Promise<void> {
  await insertFacts(client, sql`ver > ${number(after)}`);
  await removeOrphans(client, after);
  await reconcileMarked(client, after);
}

/** Writes the facts of spans that lack them. @param versions a condition on their `ver` */
export async function insertFacts(client: ClickHouseClient, versions: Sql): Promise<void> {
  const columns = await sharedColumns(client);
  await client.command(
    sql`INSERT INTO facts (${columns}) SELECT ${columns} FROM spans
     WHERE ${versions} AND ver NOT IN (SELECT ver FROM facts WHERE ${versions})`,
    { settings: SMALL_BLOCKS },
  );
}

/** Removes facts that are the newest of their span but whose span never got stored. */
async function removeOrphans(client: ClickHouseClient, after: Version): Promise<void> {
  const version = number(after);
  const orphans = await client.query<{ ver: string | number }>(
    sql`SELECT ver FROM (
       SELECT project_id, trace_id, id, argMax(deleted, f.ver) AS gone, max(f.ver) AS ver FROM facts AS f
       WHERE row_type = 0 AND f.ver > ${version} GROUP BY project_id, trace_id, id)
     WHERE NOT gone AND ver NOT IN (SELECT ver FROM spans WHERE ver > ${version}) LIMIT ${number(VERSIONS_AT_ONCE)}`,
  );
  if (orphans.length === 0) return;
  await deleteVersions(
    client,
    'facts',
    orphans.map(({ ver }) => String(ver)),
    AbortSignal.timeout(MUTATIONS_END_WITHIN_MS),
  );
  await removeOrphans(client, after);
}

/** The columns that facts take over from spans; the rest have defaults. */
export async function sharedColumns(client: ClickHouseClient): Promise<Sql> {
  const rows = await client.query<{ name: string }>(
    sql`SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'facts'
       AND name IN (SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'spans')
       AND name NOT IN ('attributes', 'duration_ms')
     ORDER BY position`,
  );
  return join(
    rows.map(({ name }) => identifier(name)),
    ', ',
  );
}
