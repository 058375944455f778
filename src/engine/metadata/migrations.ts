import { MigrationError, verifyApplied, type AppliedMigration, type MigrationFile } from '../files/migration-files.js';
import type { Database } from './database.js';

/**
 * Brings the database to the newest version: each file in one transaction under SQLite's write lock, so that two
 * processes starting at once apply each file once.
 * @param beforeUpgrade called before the first of the missing files changes a database that there was already
 * @returns the versions applied now.
 * @throws MigrationError; the database is then as the last complete migration left it.
 */
export function migrate(
  database: Database,
  files: readonly MigrationFile[],
  beforeUpgrade: (missing: readonly MigrationFile[]) => void = () => undefined,
): number[] {
  database.exec(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL
     ) STRICT`,
  );
  const select = database.prepare<[], AppliedMigration>(
    'SELECT version, name, checksum FROM schema_migrations ORDER BY version',
  );
  const insert = database.prepare(
    'INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)',
  );
  const appliedNow: number[] = [];
  const step = database.transaction((file: MigrationFile) => {
    const applied = select.all();
    verifyApplied(applied, files);
    if (applied.some(({ version }) => version === file.version)) return;
    runFile(database, file);
    insert.run(file.version, file.name, file.checksum, new Date().toISOString());
    appliedNow.push(file.version);
  });
  verifyApplied(select.all(), files);
  const done = new Set(select.all().map(({ version }) => version));
  const missing = files.filter(({ version }) => !done.has(version));
  if (done.size > 0 && missing.length > 0) beforeUpgrade(missing);
  for (const file of missing) step.immediate(file);
  return appliedNow;
}

function runFile(database: Database, file: MigrationFile): void {
  try {
    database.exec(file.sql);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError('failed', `Migration ${file.version} (${file.name}) failed: ${reason}`, error);
  }
}
