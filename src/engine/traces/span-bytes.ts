import type { StoredBytes } from '../disk/disk.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { sql } from './clickhouse/client/sql.js';
import { openReader, type ReadLimits } from './read/row-reader.js';
import { inProject } from './read/scope.js';

interface Row {
  readonly spans: string;
  readonly rows: string;
  readonly own: string;
}

/** Bytes on disk of ClickHouse, in all parts of this server. */
export type DatabaseBytes = Pick<StoredBytes, 'spans' | 'rollups' | 'words'>;

export interface SpanBytes {
  /** Of spans of a project, by its share of all rows: their sizes are not known by project. */
  ofProject(projectId: string, signal?: AbortSignal): Promise<number>;
  /** Of everything, whatever project it is of. */
  ofAll(signal?: AbortSignal): Promise<DatabaseBytes>;
}

/** Reads how large the database is. */
export function spanBytesReader(client: ClickHouseClient, limits: ReadLimits): SpanBytes {
  const reader = openReader(client, limits);
  return {
    async ofProject(projectId, signal) {
      const [row] = await reader.rows<Row>(
        sql`SELECT toString(sum(bytes_on_disk)) AS spans, toString(sum(rows)) AS rows,
  toString((SELECT count() FROM spans WHERE ${inProject(projectId)})) AS own
FROM system.parts WHERE active AND database = currentDatabase() AND table = 'spans'`,
        { signal },
      );
      if (row === undefined || Number(row.rows) === 0) return 0;
      return Math.round(Number(row.spans) * Math.min(1, Number(row.own) / Number(row.rows)));
    },
    async ofAll(signal) {
      const [row] = await reader.rows<{ all: string; spans: string; words: string }>(
        sql`SELECT toString(sum(bytes_on_disk)) AS all, toString(sumIf(bytes_on_disk, table = 'spans')) AS spans,
  toString(sumIf(bytes_on_disk, table = 'span_words')) AS words
FROM system.parts WHERE active AND database = currentDatabase()`,
        { signal },
      );
      const [all, spans, words] = [Number(row?.all ?? 0), Number(row?.spans ?? 0), Number(row?.words ?? 0)];
      return { spans, words, rollups: all - spans - words };
    },
  };
}

/**
 * Reads the room on the disks of a ClickHouse server that its policy has for the tables: when one is full, the next is
 * written to. Null: it has none with bounds, as object storage has none.
 */
export function serverRoomReader(client: ClickHouseClient) {
  return async (signal: AbortSignal) => {
    const [row] = await client.query<{ free: string; total: string }>(
      sql`SELECT toString(sum(free_space)) AS free, toString(sum(total_space)) AS total FROM system.disks
WHERE NOT is_remote AND name IN (SELECT arrayJoin(disks) FROM system.storage_policies
  WHERE policy_name IN (SELECT storage_policy FROM system.tables WHERE database = currentDatabase()))`,
      { signal },
    );
    const room = { free: Number(row?.free ?? 0), total: Number(row?.total ?? 0) };
    return room.total === 0 ? null : room;
  };
}
