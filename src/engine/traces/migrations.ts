import { DomainError } from '../errors.js';
import {
  requireAll,
  MigrationError,
  verifyApplied,
  type AppliedMigration,
  type MigrationFile,
} from '../files/migration-files.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { forCluster } from './clickhouse/client/cluster.js';
import { mutationsEnded } from './clickhouse/client/mutations.js';
import { literal, number, sql, statementOfFile, value } from './clickhouse/client/sql.js';
import type { Signals } from '../signals/signals.js';

/**
 * A change of a table that rewrites its rows is not waited for by its statement, see {@link mutationsEnded}. On a cluster
 * the next statement may only follow once the table's own replica knows of the change.
 */
const ON_ONE_SERVER = { settings: { alter_sync: '0' } } as const;

/** Statements that may rewrite stored rows. */
const REWRITES = /^ALTER TABLE \w+ (?!MODIFY SETTING)/;
/** Statements that do, and the table. */
const REWRITES_ROWS = /^ALTER TABLE (\w+)\s[\s\S]*\b(?:MATERIALIZE|UPDATE|DELETE)\b/;

/**
 * Brings the database to the newest version. ClickHouse has no transactions: every statement of a migration can be run
 * again, so that one interrupted by a crash is run once more from its beginning, and two servers starting at once do no harm.
 *
 * @param cluster the cluster to create tables on, replicated; null: one server.
 * @returns the versions applied now.
 * @throws MigrationError; DomainError when ClickHouse does not answer.
 */
export async function migrate(
  client: ClickHouseClient,
  files: readonly MigrationFile[],
  cluster: string | null,
  observer?: Pick<Signals, 'migrationBegins' | 'migrationRewrites'>,
): Promise<number[]> {
  await client.command(
    forCluster(
      sql`CREATE TABLE IF NOT EXISTS schema_migrations (version UInt32, name String, checksum String, applied_at DateTime)
       ENGINE = MergeTree ORDER BY version SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
      cluster,
    ),
  );
  const applied = await appliedMigrations(client);
  verifyApplied(applied, files);
  const missing = files.filter((file) => !applied.some(({ version }) => version === file.version));
  for (const file of missing) {
    const { rewrites, rows } = await rewritten(client, file);
    if (rows === 0) observer?.migrationBegins(file);
    else observer?.migrationRewrites({ ...file, rewrites, rows });
    await applyFile(client, file, cluster);
  }
  return missing.map(({ version }) => version);
}

/**
 * For readers that must not migrate the database.
 * @throws DomainError `conflict` when it is of an older program; MigrationError when of a newer one
 */
export async function requireApplied(client: ClickHouseClient): Promise<void> {
  requireAll(await appliedMigrations(client), 'ClickHouse');
}

function appliedMigrations(client: ClickHouseClient): Promise<AppliedMigration[]> {
  return client.query(
    sql`SELECT version, any(name) AS name, any(checksum) AS checksum FROM schema_migrations GROUP BY version ORDER BY version`,
  );
}

/** What a migration rewrites of what is stored: not how tables are made, but their rows. */
async function rewritten(client: ClickHouseClient, { sql: text }: MigrationFile) {
  const named = statementsIn(text).map((statement) => REWRITES_ROWS.exec(statement)?.[1]);
  const rewrites = [...new Set(named.filter((name) => name !== undefined))];
  if (rewrites.length === 0) return { rewrites, rows: 0 };
  const [stored] = await client.query<{ total: string }>(
    sql`SELECT toString(sum(rows)) AS total FROM system.parts
     WHERE active AND database = currentDatabase() AND table IN ${value(rewrites, 'Array(String)')}`,
  );
  return { rewrites, rows: Number(stored?.total ?? 0) };
}

async function applyFile(client: ClickHouseClient, file: MigrationFile, cluster: string | null): Promise<void> {
  try {
    for (const statement of statementsIn(file.sql)) {
      await client.command(forCluster(statementOfFile(statement), cluster), cluster === null ? ON_ONE_SERVER : {});
      if (REWRITES.test(statement)) await mutationsEnded(client);
    }
    await client.command(
      sql`INSERT INTO schema_migrations VALUES (${number(file.version)}, ${literal(file.name)}, ${literal(file.checksum)}, now())`,
    );
  } catch (error) {
    throw new MigrationError('failed', `Migration ${file.version} (${file.name}) failed: ${reasonOf(error)}`, error);
  }
}

/** The reason of a failure, with the message of ClickHouse: it is all that the operator sees. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const said = error instanceof DomainError && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return error.message + said;
}

/** A migration's statements, without comments; none of them holds a semicolon or `--` in a string. */
export function statementsIn(text: string): string[] {
  return text
    .replace(/--[^\n]*/g, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
