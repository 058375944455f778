import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { MEGABYTE } from '../config/limits.js';
import { FairSemaphore } from '../engine/work/fair-semaphore.js';
import { connect, type ClickHouseEndpoint } from '../engine/traces/clickhouse/client/client.js';
import { TracedClient } from '../engine/traces/clickhouse/client/traced-client.js';
import { engineFigures } from '../engine/traces/engine-figures.js';
import { DiskReserve } from '../engine/traces/write/disk-reserve.js';
import type { DiskSpace } from '../engine/traces/write/disk-space.js';
import { DatabaseLease } from '../engine/traces/clickhouse/lease/database-lease.js';
import { FencedClient } from '../engine/traces/clickhouse/lease/fenced-client.js';
import { LastOwner } from '../engine/traces/clickhouse/lease/last-owner.js';
import { RENEWALS } from '../engine/traces/clickhouse/lease/lease-table.js';
import { ServerWatch, type ServerIdentity } from '../engine/traces/one-server.js';
import { prepareExternalServer, severalServers } from '../engine/traces/external-server.js';
import { openTraceStore } from '../engine/traces/open-trace-store.js';
import type { TraceStore, TraceStoreOptions } from '../engine/traces/trace-store.js';
import { requireEmptyLog } from '../engine/traces/write/log/recovery.js';
import { readMigrationFiles } from '../engine/files/migration-files.js';
import { schemaDirectory } from '../engine/files/schema-files.js';
import type { DiskWatermark } from '../engine/disk/disk-watermark.js';
import { requireMoved } from '../engine/traces/move/move-target.js';
import { isMoving, readMoveMark } from '../features/move/store/move-mark.js';
import type { Context } from './context.js';
import { openWatermark } from './disks.js';
import { ENGINE_DIRECTORY, LOG_DIRECTORY } from './directories.js';
import { engineLogger, engineStates } from './engine-events.js';

/** Whom the trace store tells and asks. */
export type TraceFollowers = Pick<Required<TraceStoreOptions>, 'onPurged' | 'isGone'>;

/** Share of the engine's memory that one statement recomputing traces may use. */
const ROLLUP_PART = 0.25;
const CONNECTIONS = 32;

/** The trace store, and what watches its disk. */
export interface Traces {
  readonly traces: TraceStore;
  /** Where ClickHouse answers. */
  readonly endpoint: ClickHouseEndpoint;
  readonly watermark: DiskWatermark;
}

/**
 * Opens the trace store: on the server that the configuration names, or on the embedded engine.
 * @throws EngineLockedError, ExternalServerError, LeaseError, MigrationError, DomainError
 */
export async function openTraces(context: Context, followers: TraceFollowers): Promise<Traces> {
  const { config, events, closers } = context;
  const isEmbedded = config.clickhouse.url === null;
  const { endpoint, server } = isEmbedded ? { endpoint: await embedded(context), server: null } : await remote(context);
  const reserve = isEmbedded ? openReserve(context) : undefined;
  const client = connect(endpoint, {
    // The server's own answer about its time limit comes first.
    requestTimeoutMs: (config.read.timeoutSeconds + 30) * 1000,
    compress: !isEmbedded,
    // Answers on their way keep theirs.
    maxConnections: config.answers.atOnce + CONNECTIONS,
    turns: new FairSemaphore('reads', config.reads),
    ...(reserve && { onDiskFull: () => reserve.giveWay() }),
  });
  closers.push(() => client.close());
  // The embedded engine has one server by its lock on the directory.
  const own = server === null ? null : await leased(context, endpoint, server);
  const watermark = await openWatermark(context, isEmbedded ? null : client);
  const writing = own === null ? client : new FencedClient(client, own);
  const options = storeOptions(context, isEmbedded);
  if (options.log === null) await requireEmptyLog(join(config.dataDir, LOG_DIRECTORY));
  await requireMoved(writing, readMoveMark(config.dataDir)?.id ?? null);
  const traces = await openTraceStore(events.tracing ? new TracedClient(writing, events.tracing) : writing, {
    ...options,
    ...followers,
    governor: context.governor,
    keepsReplaced: () => isMoving(config.dataDir),
    space: spaceOf(watermark, reserve),
  });
  closers.push(() => traces.close());
  events.traceStoreOpened({
    figures: () => engineFigures(client),
    queueMaxBytes: config.commit.queueMaxBytes,
    logMaxBytes: config.commit.logMaxBytes,
    memoryMaxBytes: isEmbedded ? config.engine.memoryMb * MEGABYTE : null,
  });
  return { traces, endpoint, watermark };
}

/** How a trace store is opened, except for what it shares with a server. */
export function storeOptions({ config, events }: Pick<Context, 'config' | 'events'>, isEmbedded: boolean) {
  return {
    migrations: readMigrationFiles(schemaDirectory('clickhouse')),
    cluster: config.clickhouse.cluster,
    commit: { ...config.commit, maxRequestBytes: config.ingest.maxEncodedBytes },
    log: logOf(config),
    read: config.read,
    // A rollup statement that fails for want of memory leaves the engine enough for other statements.
    rollup: { maxMemoryBytes: isEmbedded ? config.engine.memoryMb * MEGABYTE * ROLLUP_PART : null },
    maxJudgedCharacters: config.judges.maxCharacters,
    observer: events,
  };
}

/** The write-ahead log of the server's own disk; null: ClickHouse is on another, and may be taken over. */
function logOf({ clickhouse, dataDir }: Config) {
  const { url, database, writeLog } = clickhouse;
  if (url !== null && !writeLog) return null;
  const store = url === null ? 'the embedded ClickHouse' : `the database ${database} at ${new URL(url).host}`;
  return { directory: join(dataDir, LOG_DIRECTORY), store };
}

function spaceOf(watermark: DiskWatermark, reserve?: DiskReserve): DiskSpace {
  return {
    requireSpace: () => reserve?.requireSpace(),
    requireFree: () => watermark.requireSpace(),
    queued: (bytes) => watermark.queued(bytes),
    written: (bytes) => watermark.written(bytes),
    onFull: (listener) => reserve?.onFull(listener),
  };
}

async function leased(
  { config: { clickhouse, dataDir }, events, closers, onFatal }: Context,
  endpoint: ClickHouseEndpoint,
  server: ServerIdentity,
): Promise<DatabaseLease> {
  const client = connect(endpoint, { maxConnections: 2 });
  closers.push(() => client.close());
  const lease = await DatabaseLease.take({
    client,
    cluster: clickhouse.cluster,
    serverUuid: server.uuid,
    database: `${clickhouse.database} on the ClickHouse at ${new URL(endpoint.url).host}`,
    ttlMs: clickhouse.leaseSeconds * 1000,
    lastOwner: new LastOwner(dataDir),
    observer: events,
    // Another server has taken the database over: this one can do nothing more.
    onLost: onFatal,
  });
  closers.push(() => lease.release());
  const watch = new ServerWatch(endpoint, server, {
    everyMs: (clickhouse.leaseSeconds * 1000) / RENEWALS,
    onOther: (other) => onFatal(severalServers(endpoint, [server, other])),
  });
  closers.push(() => watch.close());
  return lease;
}

function openReserve({ config, events, closers }: Context): DiskReserve {
  const reserve = DiskReserve.open({
    path: join(config.dataDir, ENGINE_DIRECTORY, 'reserve'),
    bytes: config.engine.diskReserveBytes,
    observer: events,
  });
  closers.push(() => reserve.close());
  return reserve;
}

async function remote({
  config: { clickhouse },
  events,
}: Context): Promise<{ readonly endpoint: ClickHouseEndpoint; readonly server: ServerIdentity }> {
  const { url, user, password, database, cluster } = clickhouse;
  const endpoint = { url: url ?? '', username: user, password, database };
  const server = await prepareExternalServer(endpoint, {
    cluster,
    onReplicasUnknown: (error) => events.replicasUnknown({ cluster, error }),
  });
  return { endpoint, server };
}

/** Imported only here, so that a server with its own ClickHouse runs where chDB cannot be installed. */
async function embedded({ config, events, closers }: Context): Promise<ClickHouseEndpoint> {
  const { startEngine } = await import('../engine/traces/clickhouse/process/supervisor.js');
  const engine = await startEngine({
    path: join(config.dataDir, ENGINE_DIRECTORY),
    database: config.clickhouse.database,
    memoryMb: config.engine.memoryMb,
    maxReadSeconds: config.read.timeoutSeconds,
    logger: engineLogger(events),
    onState: engineStates(events),
  });
  closers.push(() => engine.stop());
  return engine.endpoint;
}
