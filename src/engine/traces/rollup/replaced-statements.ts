import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteRows } from '../clickhouse/client/mutations.js';
import { empty, number, numbers, sql, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';

/** Versions in one statement, as in a purge. */
const BATCH = 5_000;

/** Hands posted traces that were replaced or deleted before a version over to the purge, which takes the facts of spans alone by itself. */
export async function supersedeTraceStatements(
  client: ClickHouseClient,
  end: Version,
  signal: AbortSignal,
): Promise<void> {
  await client.command(
    sql`INSERT INTO superseded SELECT project_id, ver, next_ver FROM (${replaced(sql`facts`, sql`project_id, trace_id, row_type, id`, sql`row_type = 1`)})
 WHERE next_ver < ${number(end)} AND NOT deleted`,
    { signal },
  );
}

/**
 * Removes posted sessions that were replaced or deleted before a version. Of the first, which tells when the session was
 * made, a bare row stays that is `deleted` and says nothing else. @returns how many
 */
export async function purgeSessionStatements(
  client: ClickHouseClient,
  end: Version,
  signal: AbortSignal,
): Promise<number> {
  const among = replaced(sql`session_statements`, sql`project_id, session_id`, sql`1`);
  for (let count = 0; ;) {
    const rows = await client.query<{ version: string; first: 0 | 1 }>(
      sql`SELECT toString(ver) AS version, first_ver = ver AS first FROM (${among})
 WHERE next_ver < ${number(end)} AND NOT deleted ORDER BY ver LIMIT ${number(BATCH)}`,
      { signal },
    );
    if (rows.length === 0) return count;
    const firsts = rows.filter(({ first }) => first === 1).map(({ version }) => version);
    if (firsts.length > 0) await writeBare(client, firsts, signal);
    const bare = firsts.length === 0 ? empty : sql` AND NOT (deleted AND ver IN (${numbers(firsts)}))`;
    const versions = rows.map(({ version }) => version);
    await deleteRows(client, 'session_statements', sql`ver IN (${numbers(versions)})${bare}`, signal);
    count += rows.length;
  }
}

/** Written once, however often a purge is interrupted. */
async function writeBare(client: ClickHouseClient, versions: readonly string[], signal: AbortSignal): Promise<void> {
  const first = sql`ver IN (${numbers(versions)})`;
  await client.command(
    sql`INSERT INTO session_statements (project_id, session_id, ver, deleted)
 SELECT project_id, session_id, ver, 1 FROM session_statements
 WHERE ${first} AND NOT deleted AND ver NOT IN (SELECT ver FROM session_statements WHERE ${first} AND deleted) LIMIT 1 BY ver`,
    { signal },
  );
}

/**
 * Rows with the version that replaced each, and the first version of the same thing: one row of each version, the one that
 * is not `deleted` if there is one. Read in the table's order, so that it takes little memory.
 */
function replaced(table: Sql, key: Sql, condition: Sql): Sql {
  return sql`SELECT project_id, w.1 AS ver, w.2 AS deleted, next_ver, first_ver FROM (
  SELECT project_id, arraySort(groupArray((ver, deleted))) AS sorted, min(ver) AS first_ver,
    arrayFilter((one, before) -> one.1 != before, sorted, arrayPushFront(arrayPopBack(sorted.1), toUInt64(0))) AS writes
  FROM ${table} WHERE ${condition} GROUP BY ${key} HAVING count() > 1)
ARRAY JOIN arrayPopBack(writes) AS w, arrayPopFront(writes.1) AS next_ver
SETTINGS optimize_aggregation_in_order = 1`;
}

/**
 * Removes rows of scores that were replaced before a version, and then tombstones from before it, behind which nothing is left.
 * @returns how many
 */
export async function purgeScores(client: ClickHouseClient, end: Version, signal: AbortSignal): Promise<number> {
  const key = sql`project_id, entity_type, name, entity_id, id`;
  const old = sql`SELECT ver FROM (${replaced(sql`scores`, key, sql`1`)}) WHERE next_ver < ${number(end)}`;
  const lone = sql`SELECT max(s.ver) AS ver FROM scores AS s GROUP BY ${key} HAVING min(s.ver) = ver AND any(deleted) AND ver < ${number(end)}`;
  let count = 0;
  for (const found of [old, lone]) {
    for (;;) {
      const rows = await client.query<{ version: string }>(
        sql`SELECT toString(ver) AS version FROM (${found}) ORDER BY ver LIMIT ${number(BATCH)}`,
        { signal },
      );
      if (rows.length === 0) break;
      const versions = rows.map(({ version }) => version);
      await deleteRows(client, 'scores', sql`ver IN (${numbers(versions)})`, signal);
      count += rows.length;
    }
  }
  return count;
}
