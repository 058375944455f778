import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { sql } from '../clickhouse/client/sql.js';
import { unsettled } from './audited.js';

/** What is not wrong, and left to a start or to work in the background. */
export async function spanNotes(client: ClickHouseClient, stopped: boolean): Promise<string[]> {
  const [row] = await client.query<{ aside: string; older: string }>(
    sql`SELECT toString((SELECT count() FROM set_aside FINAL WHERE aside)) AS aside,
     toString((SELECT count() FROM span_backfills FINAL WHERE NOT done)) AS older`,
  );
  const { traces, sessions } = await unsettled(client, stopped);
  const aside = Number(row?.aside ?? 0);
  const changed = stopped ? traces.size + sessions.size - aside : 0;
  return [
    ...(changed > 0
      ? [
          `${changed} traces and sessions had writes in progress when the server was interrupted: the next start repairs them.`,
        ]
      : []),
    ...(aside > 0
      ? [`${aside} traces and sessions are too large to recompute in full (X-Not-Current); they were not compared.`]
      : []),
    ...(row?.older === '0' || row === undefined
      ? []
      : [
          `Columns of older spans are still being backfilled, in ${row.older} projects; a running server continues that.`,
        ]),
  ];
}
