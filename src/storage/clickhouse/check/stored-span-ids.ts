import type { ClickHouseClient } from '../client/client.js';
import { sql, value } from '../client/sql.js';
import { isDeleted } from '../read/visibility.js';
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
      sql`SELECT DISTINCT toString(f.id) AS span FROM facts AS f
       WHERE ${ofProject(project)} AND row_type = 0 AND f.id IN ${value(ids.slice(from, from + NAMED), 'Array(UUID)')}
       GROUP BY trace_id, f.id HAVING NOT ${isDeleted}`,
    );
    for (const { span } of rows) stored.add(span);
  }
  return stored;
}
