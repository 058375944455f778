import type { ClickHouseClient } from '../client/client.js';
import type { Version } from '../commit/version-clock.js';
import { deleteRows, deleteVersions, MUTATIONS_END_WITHIN_MS } from '../client/mutations.js';
import { statementsEnded } from '../client/running-statements.js';
import { identifier, join, literal, number, sql, type Sql } from '../client/sql.js';
import type { DirtyItem } from './dirty-set.js';
import { stateVersion } from './row-version.js';

const WATERMARK = literal('rollups');
/** How many versions one statement names: far below the longest statement that ClickHouse takes. */
const VERSIONS_AT_ONCE = 5_000;
/** Facts with large tags are copied a few at a time, whatever memory the engine has. */
const SMALL_BLOCKS = { min_insert_block_size_bytes: '16777216', max_insert_threads: '1' } as const;

/** The highest version in the store; 0 when it is empty. The clock goes on from there. */
export async function highestVersion(client: ClickHouseClient): Promise<Version> {
  const [row] = await client.query<{ ver: string | number }>(
    sql`SELECT greatest((SELECT max(ver) FROM spans), (SELECT max(ver) FROM facts), (SELECT max(ver) FROM session_statements),
      (SELECT max(round) FROM session_traces), (SELECT ${stateVersion(sql`max(ver)`)} FROM sessions), (SELECT max(ver) FROM set_aside),
      (SELECT max(ver) FROM rolled_up), (SELECT ${stateVersion(sql`max(ver)`)} FROM traces)) AS ver`,
  );
  return Number(row?.ver ?? 0);
}

export async function readWatermark(client: ClickHouseClient): Promise<Version> {
  const [row] = await client.query<{ ver: string | number }>(
    sql`SELECT max(ver) AS ver FROM rolled_up WHERE name = ${WATERMARK}`,
  );
  return Number(row?.ver ?? 0);
}

export async function writeWatermark(client: ClickHouseClient, version: Version): Promise<void> {
  await client.command(sql`INSERT INTO rolled_up (name, ver) VALUES (${WATERMARK}, ${number(version)})`);
}

/**
 * Waits for inserts that run now: rows stored later, by one whose answer was lost, would never be rolled up.
 * @throws as {@link statementsEnded}
 */
export function insertsEnded(client: ClickHouseClient): Promise<void> {
  return statementsEnded(client, '^INSERT INTO .(spans|facts|session_statements)\\b');
}

/**
 * Makes facts agree with spans. A span and its fact are written by one insert, but not at one instant: a crash in between
 * leaves one without the other. The span's own row decides what was written.
 */
export async function reconcileFacts(client: ClickHouseClient, after: Version): Promise<void> {
  await insertFacts(client, sql`ver > ${number(after)}`);
  await removeOrphans(client, after);
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

/** A version that took its own place: an earlier release took a second row of it for a later version. */
const OWN_SUCCESSOR = sql`next_ver <= ver`;

/**
 * Finds span versions that were put aside for themselves, and names the later version of those that have one. All of
 * them that are still stored count again once {@link forgetOwnSuccessors} is through.
 * @returns their traces, to be recomputed before that.
 */
export async function findOwnSuccessors(client: ClickHouseClient): Promise<DirtyItem[]> {
  const versions = sql`SELECT ver FROM superseded WHERE ${OWN_SUCCESSOR}`;
  const [any] = await client.query(sql`${versions} LIMIT 1`);
  if (any === undefined) return [];
  // Purging may have removed the facts already, and not yet the spans.
  await insertFacts(client, sql`ver IN (${versions})`);
  await client.command(
    sql`INSERT INTO superseded (project_id, ver, next_ver)
     SELECT project_id, f.ver, min(later.ver) FROM facts AS f INNER JOIN facts AS later USING (project_id, trace_id, row_type, id)
     WHERE f.row_type = 0 AND f.ver IN (${versions}) AND later.ver > f.ver GROUP BY project_id, f.ver`,
  );
  return client.query<DirtyItem>(
    sql`SELECT DISTINCT project_id AS projectId, toString(trace_id) AS id FROM facts WHERE ver IN (${versions})`,
  );
}

export async function forgetOwnSuccessors(client: ClickHouseClient): Promise<void> {
  await deleteRows(client, 'superseded', OWN_SUCCESSOR, AbortSignal.timeout(MUTATIONS_END_WITHIN_MS));
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

/** Traces and posted sessions that were written after a version. */
export async function changedSince(
  client: ClickHouseClient,
  after: Version,
): Promise<{ traces: DirtyItem[]; sessions: DirtyItem[] }> {
  const version = number(after);
  const traces = await client.query<DirtyItem>(
    sql`SELECT DISTINCT project_id AS projectId, toString(trace_id) AS id FROM facts WHERE ver > ${version}`,
  );
  const sessions = await client.query<DirtyItem>(
    sql`SELECT DISTINCT project_id AS projectId, toString(session_id) AS id FROM session_statements WHERE ver > ${version}`,
  );
  return { traces, sessions };
}
