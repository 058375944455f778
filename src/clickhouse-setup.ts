import { join } from 'node:path';
import type { Config } from './config/config.js';
import { MEGABYTE } from './config/settings.js';
import { Turns } from './domain/turns.js';
import type { Events } from './observability/events.js';
import type { Logger } from './observability/logger.js';
import { connect, type ClickHouseEndpoint } from './storage/clickhouse/client/client.js';
import { DiskReserve } from './storage/clickhouse/commit/disk-reserve.js';
import { DatabaseLease } from './storage/clickhouse/lease/database-lease.js';
import { FencedClient } from './storage/clickhouse/lease/fenced-client.js';
import { LastOwner } from './storage/clickhouse/lease/last-owner.js';
import type { LeaseError } from './storage/clickhouse/lease/lease-error.js';
import { prepareOwnServer } from './storage/clickhouse/own-server.js';
import { openTraceStore, type TraceStore, type TraceStoreOptions } from './storage/clickhouse/trace-store.js';
import { readMigrationFiles } from './storage/migration-files.js';
import { schemaDirectory } from './storage/schema-files.js';

/** What is open, in the order of opening; closed in the opposite order. */
export type Closers = (() => void | Promise<void>)[];

export interface ClickHouseCallbacks {
  readonly onPurged: NonNullable<TraceStoreOptions['onPurged']>;
  readonly isGone: NonNullable<TraceStoreOptions['isGone']>;
  /** Another server has taken the database over: this one can do nothing more. */
  onLost(error: LeaseError): void;
}

const ENGINE_DIRECTORY = 'clickhouse';
/** Of the engine's memory, for one statement that recomputes traces. */
const ROLLUP_PART = 0.25;
const CONNECTIONS = 32;

/**
 * Opens the trace store: on the server that the configuration names, or on the embedded engine.
 * Part of the composition root.
 * @throws EngineLockedError, OwnServerError, LeaseError, MigrationError, DomainError
 */
export async function openClickHouse(
  config: Config,
  logger: Logger,
  events: Events,
  closers: Closers,
  { onPurged, isGone, onLost }: ClickHouseCallbacks,
): Promise<TraceStore> {
  const endpoint =
    config.clickhouse.url === null ? await embedded(config, logger, events, closers) : await remote(config, logger);
  const reserve = config.clickhouse.url === null ? openReserve(config, events, closers) : undefined;
  const client = connect(endpoint, {
    // The server's own answer about its time limit comes first.
    requestTimeoutMs: (config.read.timeoutSeconds + 30) * 1000,
    compress: config.clickhouse.url !== null,
    // Answers on their way keep theirs.
    maxConnections: config.answers.atOnce + CONNECTIONS,
    turns: new Turns('reads', config.reads),
    ...(reserve && { onDiskFull: () => reserve.giveWay() }),
  });
  closers.push(() => client.close());
  // The embedded engine has one server by its lock on the directory.
  const own = config.clickhouse.url === null ? null : await leased(config, endpoint, events, closers, onLost);
  const store = await openTraceStore(own === null ? client : new FencedClient(client, own), {
    migrations: readMigrationFiles(schemaDirectory('clickhouse')),
    cluster: config.clickhouse.cluster,
    commit: { ...config.commit, maxRequestBytes: config.ingest.maxEncodedBytes },
    read: config.read,
    // One that fails for want of memory leaves the engine enough for others.
    rollup: { maxMemoryBytes: config.clickhouse.url === null ? config.engine.memoryMb * MEGABYTE * ROLLUP_PART : null },
    maxJudgedCharacters: config.judges.maxCharacters,
    observer: events,
    onPurged,
    isGone,
    ...(reserve && { space: reserve }),
  });
  closers.push(() => store.close());
  return store;
}

async function leased(
  { clickhouse, dataDir }: Config,
  endpoint: ClickHouseEndpoint,
  observer: Events,
  closers: Closers,
  onLost: ClickHouseCallbacks['onLost'],
): Promise<DatabaseLease> {
  const client = connect(endpoint, { maxConnections: 2 });
  closers.push(() => client.close());
  const lease = await DatabaseLease.take({
    client,
    cluster: clickhouse.cluster,
    database: `${clickhouse.database} on the ClickHouse at ${new URL(endpoint.url).host}`,
    ttlMs: clickhouse.leaseSeconds * 1000,
    lastOwner: new LastOwner(dataDir),
    observer,
    onLost,
  });
  closers.push(() => lease.release());
  return lease;
}

function openReserve(config: Config, events: Events, closers: Closers): DiskReserve {
  const reserve = DiskReserve.open({
    path: join(config.dataDir, ENGINE_DIRECTORY, 'reserve'),
    bytes: config.engine.diskReserveBytes,
    observer: events,
  });
  closers.push(() => reserve.close());
  return reserve;
}

async function remote({ clickhouse }: Config, logger: Logger): Promise<ClickHouseEndpoint> {
  const { url, user, password, database, cluster } = clickhouse;
  const endpoint = { url: url ?? '', username: user, password, database };
  await prepareOwnServer(endpoint, {
    cluster,
    onReplicasUnknown: (error) =>
      logger.warn('The version of the replicas is not checked, they cannot be asked', { cluster, error }),
  });
  return endpoint;
}

/** Imported only here, so that a server with its own ClickHouse runs where chDB cannot be installed. */
async function embedded(config: Config, logger: Logger, events: Events, closers: Closers): Promise<ClickHouseEndpoint> {
  const { startEngine } = await import('./storage/clickhouse/engine/supervisor.js');
  let since = performance.now();
  let wasReady = false;
  const engine = await startEngine({
    path: join(config.dataDir, ENGINE_DIRECTORY),
    database: config.clickhouse.database,
    memoryMb: config.engine.memoryMb,
    maxReadSeconds: config.read.timeoutSeconds,
    // What matters of it is an event below.
    logger: { ...logger, info: (message, fields) => logger.debug(message, { ...fields }) },
    onState(state, pid) {
      if (state === 'ready')
        events.engineReady({ seconds: (performance.now() - since) / 1000, ...(pid === undefined ? {} : { pid }) });
      else if (state === 'stopped') events.engineStopped();
      else if (wasReady) {
        events.engineLost({ reason: `it is ${state} again` });
        events.engineRestarting({ attempt: 1, delayMs: 0 });
        since = performance.now();
      }
      wasReady = state === 'ready';
    },
  });
  closers.push(() => engine.stop());
  return engine.endpoint;
}
