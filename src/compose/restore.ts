import { join } from 'node:path';
import { contentsOf, differences, sizeOf, type Manifest } from '../engine/traces/model/backup/manifest.js';
import { DomainError } from '../engine/errors.js';
import type { Config } from '../config/config.js';
import { createLogger } from '../engine/signals/logger.js';
import type { Backups } from '../features/backup/store/backups.js';
import { RestoredFiles } from '../features/backup/store/restore-files.js';
import { beginRestore, endRestore } from '../features/backup/store/restore-mark.js';
import { attachParts } from '../engine/traces/backup/attach-parts.js';
import { connect } from '../engine/traces/clickhouse/client/client.js';
import { migrate } from '../engine/traces/migrations.js';
import { readMigrationFiles, verifyApplied, type MigrationFile } from '../engine/files/migration-files.js';
import { schemaDirectory } from '../engine/files/schema-files.js';
import { lockDataDir } from '../engine/metadata/data-dir-lock.js';
import { readMetadataCopy } from '../engine/metadata/metadata-snapshot.js';
import { metadataFile, openMetadataStore } from './metadata-store.js';
import { openTraces } from './clickhouse.js';
import { withBackups } from './backup-run.js';
import { closeAll, createContext, type Closers } from './context.js';
import { ENGINE_DIRECTORY, IMAGES_DIRECTORY } from './directories.js';

export interface RestoreRun {
  /** Names the folder to restore to, and how much memory the engine may take. */
  readonly config: Config;
  /** A folder of backups, or a bucket as `s3://bucket/prefix`. */
  readonly from: string;
  /** Default: the newest. */
  readonly id?: string;
  /** Called once with all bytes, then with those that are there. */
  readonly progress: { total(bytes: number): void; done(bytes: number): void };
  /** Called when all is there and the figures are compared. */
  readonly onVerify: () => void;
}

/** Time for each statement of a restore, however long `READ_TIMEOUT_SECONDS` lets a server's take. */
const STATEMENT_SECONDS = 6 * 3600;

export interface Restored {
  readonly id: string;
  readonly taken_at: string;
  readonly projects: number;
  readonly spans: number;
  readonly bytes: number;
  /** Whether an earlier restore was interrupted, and started over. */
  readonly begunAnew: boolean;
}

/**
 * Restores a backup into an empty `DATA_DIR` on which no server runs, and compares what came of it with what was backed
 * up. Until all is equal, no server starts on it.
 * @throws DomainError, DataDirLockedError, MigrationError
 */
export async function restoreBackup(run: RestoreRun): Promise<Restored> {
  const { config, from } = run;
  if (config.clickhouse.url !== null)
    throw new DomainError('conflict', 'Backups restore to the embedded engine: unset CLICKHOUSE_URL');
  // It is the operator's, and no one waits behind it.
  const patient = { ...config, tracing: null, read: { ...config.read, timeoutSeconds: STATEMENT_SECONDS } };
  return withBackups(from, config.backup.s3, 'reading', (backups) => restoreFrom(backups, { ...run, config: patient }));
}

async function restoreFrom(backups: Backups, { config, id, progress, onVerify }: RestoreRun): Promise<Restored> {
  const { dataDir } = config;
  const manifest = await backups.manifest(id);
  const migrations = readMigrationFiles(schemaDirectory('clickhouse'));
  // Before anything is written.
  verifyApplied(manifest.migrations, migrations);
  const lock = lockDataDir(dataDir);
  try {
    const begunAnew = await beginRestore(dataDir);
    progress.total([...contentsOf(manifest)].reduce((sum, { bytes }) => sum + bytes, 0));
    const files = new RestoredFiles(backups, progress.done);
    await files.file(manifest.metadata, metadataFile(dataDir));
    requireMetadata(dataDir, manifest);
    if (manifest.images !== null) await files.images(manifest.images, join(dataDir, IMAGES_DIRECTORY));
    await restoreSpans(config, manifest, migrations.slice(0, manifest.migrations.length), files);
    onVerify();
    await requireFigures(config, manifest);
    await endRestore(dataDir);
    const { id: restored, taken_at, figures } = manifest;
    return { id: restored, taken_at, projects: figures.length, ...sizeOf(manifest), begunAnew };
  } finally {
    lock.release();
  }
}

function requireMetadata(dataDir: string, { metadata }: Manifest): void {
  const { rows } = readMetadataCopy(metadataFile(dataDir));
  for (const [table, count] of Object.entries(metadata.rows))
    if (rows[table] !== count)
      throw new DomainError(
        'invalid',
        `The SQLite table ${table} has ${rows[table]} rows after the restore, not ${count}`,
      );
}

async function restoreSpans(
  config: Config,
  { tables }: Manifest,
  migrations: readonly MigrationFile[],
  files: RestoredFiles,
): Promise<void> {
  const { startEngine } = await import('../engine/traces/clickhouse/process/supervisor.js');
  const path = join(config.dataDir, ENGINE_DIRECTORY);
  const engine = await startEngine({
    path,
    database: config.clickhouse.database,
    memoryMb: config.engine.memoryMb,
    maxReadSeconds: config.read.timeoutSeconds,
    logger: createLogger({ level: 'silent', format: 'json' }),
  });
  const client = connect(engine.endpoint, { requestTimeoutMs: config.read.timeoutSeconds * 1000 });
  try {
    // Tables as they were then; the next start of the stores brings them up to date.
    await migrate(client, migrations, null);
    await attachParts(client, tables, path, (part, into) => files.part(part, into));
  } finally {
    await client.close();
    await engine.stop();
  }
}

/** Opens the stores as a server does, so that what was not rolled up at the moment is, and recounts them. */
async function requireFigures(config: Config, { up_to, figures }: Manifest): Promise<void> {
  const closers: Closers = [];
  const close = () => closeAll(closers);
  const logger = createLogger({ level: 'silent', format: 'json' });
  const context = await createContext({ config, overrides: { logger }, closers, baseUrl: () => '' }, close);
  try {
    const metadata = openMetadataStore(config.dataDir);
    closers.push(() => metadata.close());
    const { traces } = await openTraces(context, {
      isGone: () => false,
      onPurged: (versions) => void metadata.attachments.forget(versions),
    });
    const problems = differences(figures, await traces.snapshots.figuresAt(up_to));
    if (problems.length > 0)
      throw new DomainError('invalid', `The restored spans differ from the backup: ${problems.slice(0, 5).join('; ')}`);
  } finally {
    await close();
  }
}
