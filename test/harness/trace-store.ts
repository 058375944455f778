import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { DeletableKind } from '../../src/engine/traces/model/deletion/stored-spans.js';
import type { Page } from '../../src/engine/traces/model/list/lists.js';
import { connect, type ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { startEngine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { openTraceStore } from '../../src/engine/traces/open-trace-store.js';
import type { TraceStore, TraceStoreOptions } from '../../src/engine/traces/trace-store.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { createLogger } from '../../src/engine/signals/logger.js';
import { quietSignals } from './signals.js';
import { freshEngineDir } from './fresh-directory.js';

export const COMMIT_LIMITS = {
  maxRows: 10_000,
  maxBytes: 32e6,
  maxRequestBytes: 64e6,
  queueMaxBytes: 128e6,
  logMaxBytes: 1e9,
};

export interface OpenedStore {
  readonly store: TraceStore;
  readonly client: ClickHouseClient;
  dispose(): Promise<void>;
}

/** What a test may want otherwise. */
export type StoreOptions = Partial<
  Pick<TraceStoreOptions, 'onPurged' | 'commit' | 'rollup' | 'observer' | 'space' | 'log'>
>;

/** The trace store alone, on an embedded engine of its own in an empty directory. */
export async function openStore(options: StoreOptions = {}): Promise<OpenedStore> {
  const path = await freshEngineDir('spanhouse-store-');
  const { close, ...opened } = await openStoreAt(path, options);
  return {
    ...opened,
    async dispose() {
      await close();
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** As {@link openStore}, in a directory that stays. */
export async function openStoreAt(path: string, options: StoreOptions = {}) {
  const logger = createLogger({ level: 'silent', format: 'json' });
  const engine = await startEngine({ path, database: 'spanhouse', memoryMb: 1024, maxReadSeconds: 30, logger });
  const client = connect(engine.endpoint);
  const store = await reopenStore(client, { log: { directory: join(path, 'log'), store: 'test' }, ...options });
  return {
    store,
    client,
    async close() {
      await store.close();
      await client.close();
      await engine.stop();
    },
  };
}

/** Another store on the same data, as the next start of the server would open it. */
export function reopenStore(client: ClickHouseClient, options: StoreOptions = {}): Promise<TraceStore> {
  return openTraceStore(client, {
    migrations: readMigrationFiles(schemaDirectory('clickhouse')),
    cluster: null,
    commit: COMMIT_LIMITS,
    log: null,
    maxJudgedCharacters: 60_000,
    read: { timeoutSeconds: 30, maxResultBytes: 256e6 },
    rollup: { maxMemoryBytes: 256e6 },
    observer: quietSignals(),
    ...options,
  });
}

/** A client that inserts otherwise, and does all else as another does. */
export function withInsert(client: ClickHouseClient, insert: ClickHouseClient['insert']): ClickHouseClient {
  return {
    query: (statement, options) => client.query(statement, options),
    stream: (statement, options) => client.stream(statement, options),
    text: (statement, options) => client.text(statement, options),
    command: (statement, options) => client.command(statement, options),
    ping: () => client.ping(),
    close: () => client.close(),
    insert,
  };
}

/** The rows of a page, however it came. */
export async function rowsOf<Row>({ json }: Page): Promise<Row[]> {
  return JSON.parse(json instanceof Readable ? await text(json) : json.toString()) as Row[];
}

/** Deletes a thing and all below it from the trace store alone. @returns whether there was such a thing */
export async function remove(
  { deletions }: Pick<TraceStore, 'deletions'>,
  projectId: string,
  kind: DeletableKind,
  id: string,
): Promise<boolean> {
  const below = await deletions.below(projectId, kind, id);
  if (below === null) return false;
  for await (const things of below.things) await deletions.writeTombstones(projectId, things, below.upTo);
  return true;
}
