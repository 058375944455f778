import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import { DomainError } from '../engine/errors.js';
import { placeName, settingsOf, type SpanPlace } from '../features/move/move.js';
import { createLogger } from '../engine/signals/logger.js';
import { createMetrics } from '../engine/signals/metrics.js';
import { createSignals } from '../engine/signals/signals.js';
import { connect, type ClickHouseClient, type ClickHouseEndpoint } from '../engine/traces/clickhouse/client/client.js';
import { EngineLockedError } from '../engine/traces/clickhouse/process/engine.js';
import { SpanMove } from '../engine/traces/move/span-move.js';
import { requireFree, occupied } from '../engine/traces/move/move-target.js';
import { prepareExternalServer } from '../engine/traces/external-server.js';
import { openTraceStore } from '../engine/traces/open-trace-store.js';
import { readMigrationFiles } from '../engine/files/migration-files.js';
import { readMoveMark } from '../features/move/store/move-mark.js';
import { schemaDirectory } from '../engine/files/schema-files.js';
import { openMove, type HeldMove } from '../control/control-client.js';
import { serverOf } from './backup-run.js';
import { storeOptions } from './clickhouse.js';
import { ENGINE_DIRECTORY } from './directories.js';
import { placeOf } from './place.js';

export interface MoveRun {
  /** Names the folder of the server, and of the new place all but its URL. */
  readonly config: Config;
  /** The URL of the new place; null: the embedded engine. */
  readonly to: string | null;
  readonly progress: { total(rows: number): void; done(rows: number): void };
  /** Called when spans are refused from now on, until the move ends. */
  readonly onLastStep: () => void;
}

export interface MovedSpans {
  readonly from: SpanPlace;
  readonly to: SpanPlace;
  readonly projects: number;
  readonly spans: number;
  readonly seconds: number;
  /** For how long spans were refused while reads continued, until the server could be restarted. */
  readonly refusedSeconds: number;
}

/** What is written in the meantime of copying is copied in rounds, until one is as short as this or copies as little, or for so many. */
const SHORT_MS = 3_000;
const FEW_ROWS = 5_000;
const MAX_ROUNDS = 6;
const UNLOCKED_WITHIN_MS = 15_000;
/** Statements of the move read and write tens of megabytes. */
const CONNECTION = { requestTimeoutMs: 600_000, maxConnections: 8 } as const;

interface NewPlace {
  readonly endpoint: ClickHouseEndpoint;
  close(): Promise<void>;
}

/**
 * Moves the spans of a running server to another place, in a process of its own. Interrupted anywhere, it continues when it is run
 * again.
 * @throws DomainError, ExternalServerError, MigrationError
 */
export async function moveSpans(run: MoveRun): Promise<MovedSpans> {
  const started = performance.now();
  const { config, to: url } = run;
  const to = placeOf({ clickhouse: { ...config.clickhouse, url } });
  if (config.clickhouse.cluster !== null)
    throw new DomainError(
      'conflict',
      'Spans cannot be moved to a cluster: unset CLICKHOUSE_CLUSTER, or export and import projects',
    );
  const begun = readMoveMark(config.dataDir);
  const id = begun?.done_at === null ? begun.id : null;
  const server = await serverOf(config.dataDir);
  if (url === null) requireNoEngine(config.dataDir, id);
  else await requireServer(config, url, id);
  const held = await openMove(server, to);
  try {
    const place =
      url === null ? await embedded(config) : { endpoint: endpointOf(config, url), close: async () => undefined };
    try {
      const { projects, spans, refusedSeconds } = await moveHeld(run, held, place.endpoint);
      return { from: held.from, to, projects, spans, refusedSeconds, seconds: (performance.now() - started) / 1000 };
    } finally {
      await place.close();
    }
  } catch (error) {
    // Whatever failed first when the server has ended: that is what matters.
    await nextTurn();
    held.requireHeld();
    throw explained(error, to);
  } finally {
    held.release();
  }
}

/** What an operator does after a move. */
export function afterMove({ from, to }: MovedSpans, dataDir: string): { startWith: string; leftBehind: string } {
  const old =
    from.url === null ? `the folder ${join(dataDir, ENGINE_DIRECTORY)}` : `${placeName(from)} (DROP DATABASE)`;
  const backups =
    to.url === null
      ? ''
      : ' Back up that ClickHouse with its own BACKUP statement, and DATA_DIR too (manual, "Backups").';
  return {
    startWith: settingsOf(to),
    leftBehind: `Stop the server and start it that way; until then it rejects spans. The source is unchanged: once everything works, remove ${old}.${backups}`,
  };
}

async function moveHeld(run: MoveRun, held: HeldMove, endpoint: ClickHouseEndpoint) {
  const source = connect(held.address, CONNECTION);
  const target = connect(endpoint, CONNECTION);
  try {
    const recover = (gone: readonly string[]) => recovered(run.config, target, endpoint.socketPath !== undefined, gone);
    const migrations = readMigrationFiles(schemaDirectory('clickhouse'));
    const move = new SpanMove({ source, target, id: held.id, migrations, recover, progress: run.progress });
    await move.first(async () => (await held.settled()).upTo);
    await catchUp(move, held);
    await move.words();
    await compared(move, held);
    await catchUp(move, held);
    run.onLastStep();
    const closedAt = performance.now();
    const last = await held.close();
    await move.later(last.upTo);
    const kept = new Set(last.projects);
    await move.recover((await move.projects()).filter((project) => !kept.has(project)));
    await move.complete(last.projects);
    const spans = await move.spans();
    // After this nothing may fail anymore.
    await held.finish();
    return {
      projects: last.projects.length,
      spans,
      refusedSeconds: (performance.now() - closedAt) / 1000,
    };
  } finally {
    await source.close();
    await target.close();
  }
}

/** Copies what was written meanwhile, until that is little. */
async function catchUp(move: SpanMove, held: HeldMove): Promise<void> {
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const began = performance.now();
    const rows = await move.later((await held.settled()).upTo);
    await move.recover();
    if (rows < FEW_ROWS || performance.now() - began < SHORT_MS) return;
  }
}

async function compared(move: SpanMove, held: HeldMove): Promise<void> {
  const { projects } = await held.settled();
  await move.compare(projects, async (project) => !(await held.settled()).projects.includes(project));
}

/** Opens the store as a start does: it rolls up what changed since its watermark. */
async function recovered(
  config: Config,
  client: ClickHouseClient,
  isEmbedded: boolean,
  gone: readonly string[],
): Promise<void> {
  // The log is that of the server, which has it stored where it is.
  const options = { ...storeOptions(quiet(config), isEmbedded), log: null, cluster: null, keepsReplaced: () => true };
  const store = await openTraceStore(client, options);
  try {
    for (const project of gone) await store.deletions.removeProject(project, new AbortController().signal);
  } finally {
    await store.close();
  }
}

function quiet(config: Config) {
  return { config, events: createSignals(createLogger({ level: 'silent', format: 'json' }), createMetrics()) };
}

/** Before the server knows of the move: that it can go there at all. */
async function requireServer(config: Config, url: string, id: string | null): Promise<void> {
  const endpoint = endpointOf(config, url);
  await prepareExternalServer(endpoint, { cluster: null });
  const client = connect(endpoint, CONNECTION);
  try {
    await requireFree(client, id);
  } finally {
    await client.close();
  }
}

function requireNoEngine(dataDir: string, id: string | null): void {
  if (id === null && existsSync(join(dataDir, ENGINE_DIRECTORY))) throw occupied();
}

function endpointOf({ clickhouse: { user, password, database } }: Config, url: string): ClickHouseEndpoint {
  return { url, username: user, password, database };
}

async function embedded(config: Config): Promise<NewPlace> {
  const { startEngine } = await import('../engine/traces/clickhouse/process/supervisor.js');
  const start = () =>
    startEngine({
      path: join(config.dataDir, ENGINE_DIRECTORY),
      database: config.clickhouse.database,
      memoryMb: config.engine.memoryMb,
      maxReadSeconds: config.read.timeoutSeconds,
      logger: createLogger({ level: 'silent', format: 'json' }),
    });
  const engine = await whenUnlocked(start);
  return { endpoint: engine.endpoint, close: () => engine.stop() };
}

/** The engine of a command that was killed ends by itself, a moment later. */
async function whenUnlocked<T>(start: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + UNLOCKED_WITHIN_MS;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof EngineLockedError) || performance.now() > deadline) throw error;
      await sleep(UNLOCKED_WITHIN_MS / 50);
    }
  }
}

function explained(error: unknown, to: SpanPlace): unknown {
  if (!(error instanceof DomainError) || error.kind === 'conflict') return error;
  const said = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return new DomainError(
    error.kind,
    `Failed to move spans to ${placeName(to)}: ${error.message}${said}. The server continues with the spans as they are. ` +
      'Fix the problem and run the same command again: it resumes from there',
    { cause: error },
  );
}
