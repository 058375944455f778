import type { ClickHouseClient } from '../clickhouse/client/client.js';
import type { Version } from '../write/version-clock.js';
import { deleteRows, MUTATIONS_END_WITHIN_MS } from '../clickhouse/client/mutations.js';
import { literal, number, sql } from '../clickhouse/client/sql.js';
import { insertFacts } from '../write/facts-of-spans.js';
import type { DirtyItem } from './dirty-set.js';
import { stateVersion } from './row-version.js';

const WATERMARK = literal('rollups');

/** The highest version in the store; 0 when it is empty. The clock continues from there. */
export async function highestVersion(client: ClickHouseClient): Promise<Version> {
  const [row] = await client.query<{ ver: string | number }>(
    sql`SELECT greatest((SELECT max(ver) FROM spans), (SELECT max(ver) FROM facts), (SELECT max(ver) FROM session_statements), (SELECT max(ver) FROM scores),
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
