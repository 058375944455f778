import type { SpanBytes } from '../../domain/project/project-storage.js';
import type { ClickHouseClient } from './client/client.js';
import { sql } from './client/sql.js';
import { openReader, type ReadLimits } from './read/row-reader.js';
import { inProject } from './read/scope.js';

interface Row {
  readonly total: string;
  readonly spans: string;
  readonly rows: string;
  readonly own: string;
}

/** Reads how large the database is, in all parts of this server, and the share of a project by its rows of spans. */
export function spanBytesReader(client: ClickHouseClient, limits: ReadLimits) {
  const reader = openReader(client, limits);
  return async (projectId: string, signal?: AbortSignal): Promise<SpanBytes> => {
    const [row] = await reader.rows<Row>(
      sql`SELECT toString(sum(bytes_on_disk)) AS total, toString(sumIf(bytes_on_disk, table = 'spans')) AS spans,
  toString(sumIf(rows, table = 'spans')) AS rows, toString((SELECT count() FROM spans WHERE ${inProject(projectId)})) AS own
FROM system.parts WHERE active AND database = currentDatabase()`,
      { signal },
    );
    if (row === undefined) return { total: 0, ofProject: 0 };
    const share = Number(row.rows) === 0 ? 0 : Math.min(1, Number(row.own) / Number(row.rows));
    return { total: Number(row.total), ofProject: Math.round(Number(row.spans) * share) };
  };
}
