import { setTimeout as sleep } from 'node:timers/promises';
import { MigrationError, verifyApplied, type AppliedMigration, type MigrationFile } from '../migration-files.js';
import type { ClickHouseClient } from './client.js';

export interface MigrationObserver {
  /** One that rewrites stored rows takes a few seconds per million of them. */
  migrationBegins(migration: Pick<MigrationFile, 'version' | 'name'>): void;
}

const MUTATIONS_LOOKED_AT_MS = 100;

/**
 * Brings the database to the newest version. ClickHouse has no transactions: every statement of a migration can be run
 * again, so that one cut off by a crash is run once more from its beginning, and two servers starting at once do no harm.
 *
 * @param cluster the cluster to create tables on, replicated; null: one server.
 * @returns the versions applied now.
 * @throws MigrationError; DomainError when ClickHouse does not answer.
 */
export async function migrate(
  client: ClickHouseClient,
  files: readonly MigrationFile[],
  cluster: string | null,
  observer?: MigrationObserver,
): Promise<number[]> {
  await client.command(
    adapted(
      `CREATE TABLE IF NOT EXISTS schema_migrations (version UInt32, name String, checksum String, applied_at DateTime)
       ENGINE = MergeTree ORDER BY version SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
      cluster,
    ),
  );
  const applied = await client.query<AppliedMigration>(
    'SELECT version, any(name) AS name, any(checksum) AS checksum FROM schema_migrations GROUP BY version ORDER BY version',
  );
  verifyApplied(applied, files);
  const missing = files.filter((file) => !applied.some(({ version }) => version === file.version));
  for (const file of missing) {
    observer?.migrationBegins(file);
    await applyFile(client, file, cluster);
  }
  return missing.map(({ version }) => version);
}

async function applyFile(client: ClickHouseClient, file: MigrationFile, cluster: string | null): Promise<void> {
  try {
    for (const statement of statementsIn(file.sql)) {
      await client.command(adapted(statement, cluster));
      await mutationsEnded(client);
    }
    await client.command(
      `INSERT INTO schema_migrations VALUES (${file.version}, '${file.name}', '${file.checksum}', now())`,
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError('failed', `Migration ${file.version} (${file.name}) failed: ${reason}`, error);
  }
}

/**
 * Waits for the rewriting of stored rows that a statement has begun: of many rows it takes longer than any request may.
 * @throws Error when it fails; ClickHouse goes on trying meanwhile.
 */
async function mutationsEnded(client: ClickHouseClient): Promise<void> {
  for (;;) {
    const running = await client.query<{ failure: string }>(
      'SELECT latest_fail_reason AS failure FROM system.mutations WHERE database = currentDatabase() AND NOT is_done',
    );
    if (running.length === 0) return;
    const failed = running.find(({ failure }) => failure !== '');
    if (failed !== undefined) throw new Error(failed.failure);
    await sleep(MUTATIONS_LOOKED_AT_MS);
  }
}

/** A migration's statements, without comments; none of them holds a semicolon or `--` in a string. */
export function statementsIn(text: string): string[] {
  return text
    .replace(/--[^\n]*/g, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** The one place where a statement written for one server becomes one for a cluster. */
function adapted(statement: string, cluster: string | null): string {
  if (cluster === null) return statement;
  return statement
    .replace(
      /^(CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS \w+|DROP VIEW IF EXISTS \w+|ALTER TABLE \w+)/,
      `$1 ON CLUSTER '${cluster.replace(/['\\]/g, '\\$&')}'`,
    )
    .replace(/ENGINE = (Replacing)?MergeTree/, 'ENGINE = Replicated$1MergeTree');
}
