import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.js';
import type { AttachmentStore } from '../features/images/attachment-store.js';
import type { ImageFiles } from '../features/images/image-audit.js';
import { DomainError } from '../engine/errors.js';
import { createLogger } from '../engine/signals/logger.js';
import { FileAttachmentStore } from '../features/images/store/file-store.js';
import { imageFiles } from '../features/images/store/image-files.js';
import type { S3Options } from '../features/images/store/s3-store.js';
import { requireRestored } from '../features/backup/store/restore-mark.js';
import { startOnCopy } from '../engine/traces/check/copied-engine.js';
import { connect, type ClickHouseClient, type ClickHouseEndpoint } from '../engine/traces/clickhouse/client/client.js';
import { requireOneServer } from '../engine/traces/external-server.js';
import { DataDirLockedError, lockDataDir } from '../engine/metadata/data-dir-lock.js';
import type { FileLock } from '../engine/metadata/file-lock.js';
import { metadataFile } from './metadata-store.js';
import { askStores } from '../control/control-client.js';
import { serverOf } from './backup-run.js';
import { COPIES } from './clear-snapshots.js';
import type { Closers } from './context.js';
import { ENGINE_DIRECTORY, IMAGES_DIRECTORY } from './directories.js';
import { openImages } from './storage.js';

/** What a running server says of its stores. */
export interface RunningStores {
  readonly clickhouse: ClickHouseEndpoint;
  readonly s3: S3Options | null;
}

/** The stores of a `DATA_DIR`, to be read alone. */
export interface ReadStores {
  readonly client: ClickHouseClient;
  readonly images: AttachmentStore;
  /** Null: images are in a bucket. */
  readonly files: ImageFiles | null;
  /** Resolves when all that a running server has stored is in its figures; null: none runs. */
  readonly settle: (() => Promise<void>) | null;
}

/** A statement that reads all of a table, and there is no one who waits for others. */
const MAX_READ_SECONDS = 3_600;
const CONNECTIONS = 2;

/**
 * Opens the stores of a `DATA_DIR` without changing anything: those of the server that runs on it, or, where none does, a
 * copy of the engine's folder, while the directory is locked.
 * @throws DomainError; what closes what is open is among the closers then, too
 */
export async function openToRead(config: Config, closers: Closers): Promise<ReadStores> {
  const { dataDir } = config;
  if (!existsSync(metadataFile(dataDir)))
    throw new DomainError('not_found', `No Spanhouse data in ${dataDir}; set DATA_DIR to the folder of the server`);
  const lock = lockOf(dataDir);
  if (lock === null) return running(config, closers);
  closers.push(() => lock.release());
  requireRestored(dataDir);
  const endpoint = config.clickhouse.url === null ? await copied(config, closers) : await externalServer(config);
  const client = connected(endpoint, {}, closers);
  return { client, ...(await imagesOf(config, closers)), settle: null };
}

/** @returns null when a process has it */
function lockOf(dataDir: string): FileLock | null {
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof DataDirLockedError) return null;
    throw error;
  }
}

async function running(config: Config, closers: Closers): Promise<ReadStores> {
  const server = await serverOf(config.dataDir);
  const ask = async () =>
    (await askStores(server).catch((error: unknown) => {
      if (!(error instanceof DomainError) || error.kind !== 'unavailable') throw error;
      throw new DomainError(
        'unavailable',
        `A process is using ${config.dataDir}, but no server responds: if it is starting, restoring or checking, wait until it finishes`,
        { cause: error },
      );
    })) as RunningStores;
  const { clickhouse, s3 } = await ask();
  // One core is enough for what no one waits for.
  const client = connected(clickhouse, { max_threads: 1 }, closers);
  const attachments = { ...config.attachments, s3 };
  const settle = async () => {
    await ask();
  };
  return { client, ...(await imagesOf({ ...config, attachments }, closers)), settle };
}

function connected(
  endpoint: ClickHouseEndpoint,
  settings: { readonly max_threads?: number },
  closers: Closers,
): ClickHouseClient {
  const client = connect(endpoint, {
    requestTimeoutMs: MAX_READ_SECONDS * 1000,
    maxConnections: CONNECTIONS,
    settings,
  });
  closers.push(() => client.close());
  return client;
}

async function externalServer({ clickhouse: { url, user, password, database } }: Config): Promise<ClickHouseEndpoint> {
  const endpoint = { url: url ?? '', username: user, password, database };
  await requireOneServer(endpoint);
  return endpoint;
}

async function copied({ dataDir, clickhouse, engine }: Config, closers: Closers): Promise<ClickHouseEndpoint> {
  const path = join(dataDir, ENGINE_DIRECTORY);
  if (!existsSync(path))
    throw new DomainError(
      'not_found',
      `${dataDir} holds no spans: no server has run on it, or CLICKHOUSE_URL is not set`,
    );
  const { startEngine } = await import('../engine/traces/clickhouse/process/supervisor.js');
  const options = {
    path,
    database: clickhouse.database,
    memoryMb: engine.memoryMb,
    maxReadSeconds: MAX_READ_SECONDS,
    logger: createLogger({ level: 'silent', format: 'json' }),
  };
  const started = await startOnCopy(startEngine, options, join(dataDir, COPIES, ENGINE_DIRECTORY));
  closers.push(() => started.close());
  return started.endpoint;
}

async function imagesOf(config: Config, closers: Closers): Promise<Pick<ReadStores, 'images' | 'files'>> {
  if (config.attachments.s3 !== null) return { images: await openImages({ config, closers }), files: null };
  const root = join(config.dataDir, IMAGES_DIRECTORY);
  return { images: FileAttachmentStore.asItIs(root), files: imageFiles(root) };
}
