import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { LONG_STATEMENTS } from '../clickhouse/client/long-statements.js';
import { deleteRows } from '../clickhouse/client/mutations.js';
import { empty, listOf, literal, number, sql, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import { keepFirstNamings, versionsOf } from './first-writes.js';

/** Traces that go together: each time, facts of other traces are read with theirs. */
const TRACES_AT_ONCE = 120_000;

/** Traces of one project that were removed whole, and of which something is stored. */
export interface RemovedTraces {
  readonly project: string;
  readonly ids: readonly string[];
  /** Versions of their tombstones. */
  readonly tombstones: readonly string[];
}

/**
 * The traces that were removed first, of those that no read sees anymore.
 * @param end the version before which they must have been removed
 * @returns null when nothing of any is stored
 */
export async function removedTraces(
  client: ClickHouseClient,
  end: Version,
  signal: AbortSignal,
): Promise<RemovedTraces | null> {
  const ended = sql`SELECT next_ver FROM superseded WHERE next_ver < ${number(end)}`;
  const rows = await client.query<{ project: string; trace: string; version: string }>(
    // The bounds are for the index of versions, which does not look into sets as large as this.
    sql`SELECT toString(f.project_id) AS project, toString(f.trace_id) AS trace, toString(f.ver) AS version FROM facts AS f
     WHERE f.row_type = 2 AND f.ver >= (SELECT min(next_ver) FROM (${ended})) AND f.ver < ${number(end)} AND f.ver IN (${ended})
     ORDER BY f.ver LIMIT ${number(TRACES_AT_ONCE)}`,
    { settings: LONG_STATEMENTS, signal },
  );
  const [first] = rows;
  if (first === undefined) return null;
  const own = rows.filter(({ project }) => project === first.project);
  return {
    project: first.project,
    ids: [...new Set(own.map(({ trace }) => trace))],
    tombstones: own.map(({ version }) => version),
  };
}

/**
 * Removes what was written to some traces before the first of them was removed; what was written to others of them afterwards
 * stays for the next call. Found by the traces' ids, it takes a fraction of the time of {@link Purge} by versions.
 * @param tell is told which versions are gone, before they leave `superseded`
 * @returns how many versions left `superseded`
 * @throws as {@link deleteRows}; may be called again
 */
export async function purgeTraces(
  client: ClickHouseClient,
  { project, ids, tombstones: [first = '0', ...others] }: RemovedTraces,
  tell: (versions: readonly string[]) => Promise<void>,
  signal: AbortSignal,
): Promise<number> {
  const own = sql`project_id = ${literal(project)}`;
  const traces = listOf('UUID', ids);
  const facts = sql`${own} AND trace_id IN ${traces} AND ver < ${number(first)}`;
  const kept = await keepFirstNamings(client, { facts, project: own, traces }, signal);
  const bare = kept.length === 0 ? empty : sql` AND NOT (deleted AND ver IN ${listOf('UInt64', kept)})`;
  // Facts go last: without them no one knows when the spans started, and a purge that was interrupted would find none of these.
  await deleteRows(client, 'spans', sql`${facts}${await startedWithin(client, facts, signal)}`, signal);
  await deleteRows(client, 'experiment_spans', facts, signal);
  await deleteRows(client, 'facts', sql`${facts}${bare}`, signal);
  const gone = sql`${own} AND ver < ${number(first)} AND next_ver IN ${listOf('UInt64', [first, ...others])}`;
  const versions = await versionsOf(
    client,
    sql`SELECT DISTINCT toString(ver) AS version FROM superseded WHERE ${gone}`,
    signal,
  );
  await tell(versions);
  await deleteRows(client, 'superseded', gone, signal);
  return versions.length;
}

/** The further condition on `spans` of when these started, as they are sorted by it; empty: nothing says when. */
async function startedWithin(client: ClickHouseClient, facts: Sql, signal: AbortSignal): Promise<Sql> {
  const [row] = await client.query<{ from: string; to: string; facts: string }>(
    sql`SELECT toString(toUnixTimestamp64Micro(min(started_at))) AS from, toString(toUnixTimestamp64Micro(max(started_at))) AS to,
       toString(count()) AS facts
     FROM facts WHERE ${facts} AND row_type = 0 AND NOT deleted`,
    { settings: LONG_STATEMENTS, signal },
  );
  if (row === undefined || row.facts === '0') return empty;
  const at = (micros: string) => sql`fromUnixTimestamp64Micro(${number(micros)}, 'UTC')`;
  return sql` AND started_at >= ${at(row.from)} AND started_at <= ${at(row.to)}`;
}
