import type { ProjectFigures } from '../../../domain/backup/manifest.js';
import type { ClickHouseClient } from '../client/client.js';
import { literal, number, sql } from '../client/sql.js';
import type { Version } from '../commit/version-clock.js';

/** Long enough for some hundred million spans of one project; it holds nobody up. */
const SETTINGS = { optimize_aggregation_in_order: 1 } as const;

/**
 * What the spans of each project add up to in the state at a version, recounted from their facts. The state must be held,
 * or be the last one: what was replaced since would be purged.
 */
export async function figuresAt(client: ClickHouseClient, upTo: Version): Promise<ProjectFigures[]> {
  const projects = await client.query<{ id: string }>(
    sql`SELECT DISTINCT project_id AS id FROM facts WHERE ver <= ${number(upTo)} ORDER BY id`,
  );
  const figures: ProjectFigures[] = [];
  // Project by project, in the order of the table: what is in memory at once is one trace.
  for (const { id } of projects) {
    const [row] = await client.query<ProjectFigures>(
      sql`SELECT ${literal(id)} AS project_id, toUInt32(count()) AS spans, toUInt32(sum(last.1)) AS errors,
       toString(sum(last.2)) AS cost, toString(sum(last.3)) AS input_tokens, toString(sum(last.4)) AS output_tokens,
       toString(sum(toUInt128(last.5))) AS versions
       FROM (SELECT argMax((has_error, ifNull(cost, 0), ifNull(input_tokens, 0), ifNull(output_tokens, 0), ver, deleted), f.ver) AS last
         FROM facts AS f WHERE project_id = ${literal(id)} AND row_type = 0 AND f.ver <= ${number(upTo)}
         GROUP BY project_id, trace_id, row_type, id)
       WHERE NOT last.6`,
      { settings: SETTINGS },
    );
    if (row !== undefined && row.spans > 0) figures.push(row);
  }
  return figures;
}
