import { join } from 'node:path';
import type { Manifest, PartFiles } from '../model/backup/manifest.js';
import { DomainError } from '../../errors.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { identifier, literal, sql } from '../clickhouse/client/sql.js';

/** Copies the files of a part to a folder. */
type PutPart = (part: PartFiles, folder: string) => Promise<void>;

/**
 * Attaches the parts of a backup to its tables, which are there and empty. Rows come as they were written: no view runs for
 * them.
 * @param engineFolder the engine's own
 * @throws DomainError `invalid` when there are other tables, or not all rows afterwards
 */
export async function attachParts(
  client: ClickHouseClient,
  tables: Manifest['tables'],
  engineFolder: string,
  put: PutPart,
): Promise<void> {
  // So that there is exactly what was there; merges begin with the next start of the engine.
  await client.command(sql`SYSTEM STOP MERGES`);
  const folders = await detachedFolders(client, engineFolder);
  for (const { name, parts } of tables) {
    const folder = folders.get(name);
    if (folder === undefined) throw new DomainError('invalid', `The backup has a table ${name} that its schema lacks`);
    // In the order in which they were written, which is that of equal rows.
    for (const part of parts.toSorted((one, other) => firstBlock(one) - firstBlock(other))) {
      await put(part, folder);
      await client.command(sql`ALTER TABLE ${identifier(name)} ATTACH PART ${literal(part.name)}`);
    }
    await requireRows(client, name, parts);
  }
}

async function detachedFolders(client: ClickHouseClient, engineFolder: string): Promise<Map<string, string>> {
  const tables = await client.query<{ name: string; uuid: string }>(
    sql`SELECT name, toString(uuid) AS uuid FROM system.tables WHERE database = currentDatabase()`,
  );
  return new Map(
    tables.map(({ name, uuid }) => [name, join(engineFolder, 'store', uuid.slice(0, 3), uuid, 'detached')]),
  );
}

async function requireRows(client: ClickHouseClient, table: string, parts: readonly PartFiles[]): Promise<void> {
  const [row] = await client.query<{ rows: string }>(
    sql`SELECT toString(sum(rows)) AS rows FROM system.parts
     WHERE active AND database = currentDatabase() AND table = ${literal(table)}`,
  );
  const expected = parts.reduce((sum, { rows }) => sum + rows, 0);
  if (Number(row?.rows ?? 0) !== expected)
    throw new DomainError('invalid', `The table ${table} has ${row?.rows} rows after the restore, not ${expected}`);
}

/** The first block of a part, by its name: partition, first block, last block, level and perhaps mutation. */
function firstBlock({ name }: PartFiles): number {
  return Number(name.split('_')[1] ?? 0);
}
