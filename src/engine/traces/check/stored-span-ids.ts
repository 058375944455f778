import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { sql, value } from '../clickhouse/client/sql.js';
import { standing } from '../read/visibility.js';
import { ofProject } from './keys.js';

/** How many ids one statement names. Each reads the ids of all facts of the project. */
const NAMED = 5_000;

/** Which of some spans are stored in a project, whatever their traces. */
export async function storedSpanIds(
  client: ClickHouseClient,
  project: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const stored = new Set<string>();
  for (let from = 0; from < ids.length; from += NAMED) {
    const rows = await client.query<{ span: string }>(
      sql`SELECT DISTINCT toString(f.id) AS span
       FROM (${standing(sql`id`, sql`${ofProject(project)} AND (row_type = 2 OR (row_type = 0 AND id IN ${value(ids.slice(from, from + NAMED), 'Array(UUID)')}))`)}) AS f`,
    );
    for (const { span } of rows) stored.add(span);
  }
  return stored;
}
