import { join } from 'node:path';
import { openAttachments } from './attachment-setup.js';
import { openDeletions } from './deletion-setup.js';
import type { DeletionStep } from './domain/deletion/deletion-work.js';
import { openJudges, openModel } from './judge-setup.js';
import { openCorrections, openLearning } from './learning-setup.js';
import { openClickHouse, type Closers } from './clickhouse-setup.js';
import { publicUrl, type Config } from './config/config.js';
import { openFeedback } from './feedback-setup.js';
import { IngestService } from './domain/ingest/ingest-service.js';
import { createListPrices } from './domain/span/pricing.js';
import { PriceService } from './domain/price/price-service.js';
import { RepriceService } from './domain/price/reprice-service.js';
import { PromptService } from './domain/prompt/prompt-service.js';
import { IdentityService } from './domain/identity/identity-service.js';
import { Turns } from './domain/turns.js';
import { createEvents, type Events } from './observability/events.js';
import { createLogger, type Logger } from './observability/logger.js';
import { createMetrics } from './observability/metrics.js';
import { packageVersion, schemaDirectory } from './storage/schema-files.js';
import { lockDataDir } from './storage/sqlite/data-dir-lock.js';
import { DATABASE_FILE, openDatabase, type Database } from './storage/sqlite/database.js';
import { SqliteIdentityStore } from './storage/sqlite/identity-store.js';
import { SqlitePriceStore } from './storage/sqlite/price-store.js';
import { SqlitePromptStore } from './storage/sqlite/prompt-store.js';
import { SqliteRepriceStore } from './storage/sqlite/reprice-store.js';
import { readMigrationFiles } from './storage/migration-files.js';
import { migrate } from './storage/sqlite/migrations.js';
import { BodyMemory } from './transport/body-memory.js';
import { createApp } from './transport/http/app.js';
import type { BodyLimits } from './transport/http/body.js';
import { listen, type Listener } from './transport/http/listener.js';
import { buildOpenApi } from './transport/http/openapi.js';
import type { Route } from './transport/http/route.js';
import { createApiKeyRoute } from './transport/http/routes/api-keys/create-api-key.js';
import { listApiKeysRoute } from './transport/http/routes/api-keys/list-api-keys.js';
import { revokeApiKeyRoute } from './transport/http/routes/api-keys/revoke-api-key.js';
import { getAttachmentRoute } from './transport/http/routes/attachments/get-attachment.js';
import { listAttachmentsRoute } from './transport/http/routes/attachments/list-attachments.js';
import { deleteProjectRoute } from './transport/http/routes/projects/delete-project.js';
import { docsRoutes } from './transport/http/routes/operations/docs.js';
import { healthRoute } from './transport/http/routes/operations/health.js';
import { metricsRoute } from './transport/http/routes/operations/metrics.js';
import { openApiRoute } from './transport/http/routes/operations/openapi-document.js';
import { readinessRoute, type ReadinessCheck } from './transport/http/routes/operations/readiness.js';
import { postOtlpTracesRoute } from './transport/http/routes/otlp/post-otlp-traces.js';
import { judgeRoutes } from './transport/http/routes/judges/index.js';
import { calibrationRoutes } from './transport/http/routes/calibration/index.js';
import { optimizationRoutes } from './transport/http/routes/optimizations/index.js';
import { priceRoutes } from './transport/http/routes/prices/index.js';
import { promptRoutes } from './transport/http/routes/prompts/index.js';
import { traceRoutes } from './transport/http/routes/traces/index.js';
import { createExport, type ExportTraces } from './transport/otlp/export.js';

/** Parts a caller may bring itself. */
export interface ServerOverrides {
  readonly logger?: Logger;
  /** The server cannot go on, for a reason that the error says. The caller ends it; default: it stops by itself. */
  readonly onFatal?: (error: Error) => void;
  /** How long a body may take to arrive; default as configured. */
  readonly bodyTimeoutMs?: number;
  /** Wait before the second attempt of an evaluation; default 1 s. */
  readonly judgeRetryMs?: number;
  /** Called before each step of a deletion; what it throws cuts the deletion off. */
  readonly onDeletionStep?: (step: DeletionStep) => void;
  /** Addresses that images may be fetched from although they are not public; default none. */
  readonly fetchableAddresses?: readonly string[];
}

export interface RunningServer {
  /** Base of every URL handed out. */
  readonly url: string;
  readonly port: number;
  /** Where OTLP over gRPC is taken; null when it is not. */
  readonly grpcPort: number | null;
  /** The project and key that the first start made; the key is null when the configuration named it. */
  readonly created: { readonly projectId: string; readonly key: string | null } | null;
  /** Finishes what was accepted, then closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts the whole server.
 * @throws DataDirLockedError, OwnServerError, LeaseError, MigrationError, DomainError (init variables), or Error with `code`
 *   (EADDRINUSE, EACCES): nothing is left open then
 */
export async function startServer(config: Config, overrides: ServerOverrides = {}): Promise<RunningServer> {
  const closers: Closers = [];
  const close = () => closeAll(closers);
  try {
    return await start(config, overrides, closers, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/** One that fails keeps none of the others from being closed. @throws the first failure. */
async function closeAll(closers: Closers): Promise<void> {
  const failures: unknown[] = [];
  for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) {
    try {
      await closer();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function start(
  config: Config,
  overrides: ServerOverrides,
  closers: Closers,
  close: () => Promise<void>,
): Promise<RunningServer> {
  const logger = overrides.logger ?? createLogger(config.log);
  const metrics = createMetrics();
  const events = createEvents(logger, metrics);

  const lock = lockDataDir(config.dataDir);
  closers.push(() => lock.release());
  const database = openMetadata(config.dataDir);
  closers.push(() => void database.close());

  const identity = new IdentityService({
    store: new SqliteIdentityStore(database),
    onRecordFailed: (error) => logger.warn('Time of last use could not be written', { error }),
  });
  closers.push(() => identity.close());
  const fetchableAddresses = overrides.fetchableAddresses ?? [];
  const attachments = await openAttachments({ config, database, events, closers, fetchableAddresses });
  const store = await openClickHouse(config, logger, events, closers, {
    onPurged: attachments.purged,
    isGone: (projectId) => identity.isGone(projectId),
    onLost:
      overrides.onFatal ??
      (() => {
        close().catch((error: unknown) => logger.error('Not everything was closed', { error }));
      }),
  });
  const listeners: Listener[] = [];
  const baseUrl = () => publicUrl(config.http, listeners[0]?.port ?? 0);
  const images = attachments.serve(store.attachments, baseUrl);
  const prices = new PriceService({ store: new SqlitePriceStore(database), listPrices: createListPrices() });
  const promptStore = new SqlitePromptStore(database);
  const prompts = new PromptService({ store: promptStore, observer: events });
  const deletions = openDeletions({
    database,
    spans: store.deletions,
    images: attachments.deleted,
    events,
    closers,
    onProjectOrdered(projectId) {
      identity.projectGone(projectId);
      prices.forget(projectId);
      prompts.forget();
    },
    ...(overrides.onDeletionStep === undefined ? {} : { onStep: overrides.onDeletionStep }),
  });
  // Before anything else reads: what was deleted before a crash is shown to nobody after it.
  await deletions.resume();
  const ingest = new IngestService({
    log: store.log,
    lists: store.lists,
    price: prices.price,
    attachments: attachments.intake,
    maxTagBytes: config.ingest.maxTagBytes,
    observer: events,
  });

  const reprices = new RepriceService({
    store: new SqliteRepriceStore(database),
    spans: store.calculated,
    price: prices.price,
    attachments: attachments.restated,
    observer: events,
    maxAttempts: config.jobs.maxAttempts,
  });
  closers.push(() => reprices.close());
  reprices.start();

  const model = await openModel(config.judges, events);
  const corrections = openCorrections(database, store.spans, config.judges, events);
  const retry = overrides.judgeRetryMs === undefined ? {} : { retryBaseMs: overrides.judgeRetryMs };
  const judges = openJudges({
    config: config.judges,
    database,
    prompts: promptStore,
    versions: prompts,
    store,
    ingest,
    price: prices.price,
    events,
    closers,
    model,
    examples: corrections,
    ...retry,
  });
  const learning = openLearning({
    config: config.judges,
    jobLimits: config.jobs,
    database,
    prompts: promptStore,
    versions: prompts,
    spans: store.spans,
    corrections,
    ingest,
    price: prices.price,
    events,
    closers,
    model,
    ...retry,
  });

  deletions.start([...judges.work, ...learning.work]);

  const exportTraces = createExport({
    ingest,
    observer: events,
    maxEncodedBytes: config.ingest.maxEncodedBytes,
  });

  const checks: ReadinessCheck[] = [
    { name: 'sqlite', check: () => void database.prepare('SELECT 1 FROM projects LIMIT 1').get() },
    { name: 'clickhouse', check: () => store.check() },
  ];
  const api: Route[] = [
    ...traceRoutes({ ingest, lists: store.lists, deletions }),
    listAttachmentsRoute(images),
    getAttachmentRoute(images),
    postOtlpTracesRoute(exportTraces),
    ...promptRoutes(prompts),
    ...priceRoutes(prices, reprices),
    ...judgeRoutes(judges),
    ...calibrationRoutes(learning.calibration),
    ...optimizationRoutes(learning.optimizations),
    ...openFeedback({
      database,
      store,
      attachments: images,
      events,
      baseUrl,
      trustedProxies: config.http.trustedProxies,
      limits: config.reviews,
    }),
    createApiKeyRoute(identity),
    listApiKeysRoute(identity),
    revokeApiKeyRoute(identity),
    deleteProjectRoute(deletions),
  ];
  const limits = {
    maxBodyBytes: config.http.maxBodyBytes,
    readTimeoutMs: overrides.bodyTimeoutMs ?? config.bodies.timeoutMs,
    minBytesPerSecond: config.bodies.minBytesPerSecond,
    rateWindowMs: config.bodies.rateWindowMs,
  };
  const memory = new BodyMemory({
    maxBytesInWork: config.bodies.memoryBytes,
    maxPublicBytesInWork: config.bodies.publicMemoryBytes,
  });
  const app = createApp({
    routes: [...api, ...operations(api, { checks, metrics, metricsToken: config.metricsToken })],
    identity,
    limits,
    memory,
    trustedProxies: config.http.trustedProxies,
    delivery: config.delivery,
    answers: new Turns('lists', config.answers),
    log: logger,
    observer: events,
  });
  const stopDeadlineMs = config.shutdownTimeoutSeconds * 1000 * 0.8;
  closers.push(async () => {
    await Promise.all(listeners.map((listener) => listener.stop(stopDeadlineMs)));
  });
  const { host, port } = config.http;
  const { headersTimeoutMs, maxConnections } = config;
  const requestTimeoutMs = limits.readTimeoutMs + 5_000;
  const http = await listen(app, { host, port, headersTimeoutMs, requestTimeoutMs, maxConnections });
  listeners.push(http);
  const grpc = await openGrpc(config, { identity, exportTraces, events, limits, memory });
  if (grpc !== null) listeners.push(grpc);

  // Last, when nothing can fail any more: the first key is shown once, so it must not be made by a start that fails.
  const { created, initKeyRevoked } = identity.bootstrap(config.init);
  if (initKeyRevoked) logger.warn('SPANHOUSE_INIT_API_KEY names a revoked key; it stays revoked');

  let stopped: Promise<void> | undefined;
  const url = publicUrl(config.http, http.port);
  const grpcPort = grpc?.port ?? null;
  // On a terminal, whoever started the server says so.
  if (config.log.format === 'json')
    logger.info('Listening', { url, ...(grpcPort === null ? {} : { grpc_port: grpcPort }) });
  return { url, port: http.port, grpcPort, created, stop: () => (stopped ??= close()) };
}

interface GrpcParts {
  readonly identity: IdentityService;
  readonly exportTraces: ExportTraces;
  readonly events: Events;
  readonly limits: BodyLimits;
  readonly memory: BodyMemory;
}

/** Imported only here: a server without gRPC starts without its library. */
async function openGrpc(
  config: Config,
  { identity, exportTraces, events, limits, memory }: GrpcParts,
): Promise<Listener | null> {
  if (config.grpcPort === null) return null;
  const { listenGrpc } = await import('./transport/grpc/listener.js');
  return listenGrpc({
    host: config.http.host,
    port: config.grpcPort,
    identity,
    exportTraces,
    memory,
    maxConnections: config.maxConnections,
    maxCalls: config.grpcCallsAtOnce,
    limits,
    observer: events,
  });
}

function openMetadata(dataDir: string): Database {
  const database = openDatabase(join(dataDir, DATABASE_FILE));
  try {
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

interface OperationsParts {
  readonly checks: readonly ReadinessCheck[];
  readonly metrics: ReturnType<typeof createMetrics>;
  readonly metricsToken: string | null;
}

function operations(api: readonly Route[], { checks, metrics, metricsToken }: OperationsParts): Route[] {
  const routes: Route[] = [
    healthRoute(),
    readinessRoute(checks),
    metricsRoute(metrics.registry, metricsToken),
    ...docsRoutes(),
  ];
  const info = {
    title: 'Spanhouse',
    version: packageVersion(),
    description: 'LLM traces, prompts and feedback on ClickHouse.',
  };
  const documented = [...api, ...routes];
  const document = openApiRoute(() => buildOpenApi(documented, info));
  documented.push(document);
  return [...routes, document];
}
