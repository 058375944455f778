import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { schemaDirectory } from '../../../files/schema-files.js';
import { EngineError, ErrorCode } from './engine-error.js';
import { InsertFiles } from './insert-files.js';
import { identifierLiteral } from '../client/literals.js';
import { connectionArguments, serverSettings, unmetSettings } from './memory-plan.js';
import { loadNative } from './native.js';
import type { Native, NativeConnection } from './native.js';
import { SessionPool } from './session-pool.js';
import type { Settings } from './session-pool.js';
import { COMMANDERS, READERS, WRITERS } from './threads.js';

export interface CoreOptions {
  /** Data directory, absolute. */
  readonly path: string;
  readonly database: string;
  /** Memory cap of the whole engine, caches included. */
  readonly memoryMb: number;
  /** Time limit of every read; a request may only lower it. */
  readonly maxReadSeconds: number;
  /** Called when the engine inside has died or hangs: nothing helps but a new process. */
  onBroken(detail: string): void;
}

/** The opened engine: pools of connections by purpose, so that slow reads never hold up an insert. */
export interface EngineCore {
  readonly reads: SessionPool;
  /** Sessions for DDL, mutations, INSERT SELECT and SYSTEM, which have no time limit of their own. */
  readonly commands: SessionPool;
  readonly inserts: SessionPool;
  /** The files that the data of inserts is handed to the engine in. */
  readonly files: InsertFiles;
  readonly version: string;
  readonly openedInMs: number;
  /** Resolves when the engine itself (not only this event loop) still works. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the data directory.
 *
 * @throws Error when the directory is locked, or a memory setting did not take effect.
 */
export async function openCore(options: CoreOptions): Promise<EngineCore> {
  const from = Date.now();
  const native = loadNative();
  const wanted = serverSettings(options.memoryMb);
  // The first connection fixes the server's settings for the life of the process, so it stays open.
  const configFile = join(schemaDirectory('clickhouse'), 'engine.xml');
  const probe = native.CreateConnection(options.path, [`--config-file=${configFile}`, ...connectionArguments(wanted)]);
  await verify(native, probe, wanted);
  await query(native, probe, `CREATE DATABASE IF NOT EXISTS ${identifierLiteral(options.database)} ENGINE = Atomic`);
  const version = (await query(native, probe, 'SELECT version()')).trim();

  const pool = (size: number, settings: Settings, stuckAfterMs: number, stuckMeansBroken = 1): SessionPool =>
    new SessionPool({
      native,
      path: options.path,
      database: options.database,
      settings,
      size,
      maxWaiting: 256,
      maxWaitMs: Math.min(options.maxReadSeconds * 1000, 30_000),
      stuckAfterMs,
      stuckMeansBroken,
      onBroken: options.onBroken,
    });
  // The engine looks at the time between blocks of rows: one row that takes long is the matter of its read alone.
  const reads = pool(READERS, readSettings(options), options.maxReadSeconds * 1000 + 15_000, READERS);
  const commands = pool(COMMANDERS, baseSettings(options, 0.6), 3_600_000);
  const inserts = pool(WRITERS, baseSettings(options, 0.5), 300_000);
  return {
    reads,
    commands,
    inserts,
    files: new InsertFiles(options.path),
    version,
    openedInMs: Date.now() - from,
    probe: () => probeWith(native, probe),
    close: async () => {
      await Promise.all([reads.close(), commands.close(), inserts.close()]);
      native.CloseConnection(probe);
    },
  };
}

/** What Linux calls files in memory: TMPFS_MAGIC of statfs(2). */
const IN_MEMORY = 0x01021994;

function baseSettings(options: CoreOptions, memoryPart: number): Settings {
  return new Map([
    // chDB starts as `clickhouse local` does; these two are off as on a server.
    ['implicit_select', '0'],
    ['allow_introspection_functions', '0'],
    // `async_insert` is on by default in this engine; acknowledged would not mean stored.
    ['async_insert', '0'],
    // Compiling an expression takes longer than the short queries that would use it.
    ['compile_expressions', '0'],
    ['compile_aggregate_expressions', '0'],
    ['compile_sort_description', '0'],
    // Parameters become part of a statement's text, which is 256 KiB at most by default: enough for 6,000 ids.
    ['max_query_size', String(64 * 1024 * 1024)],
    ['max_memory_usage', String(Math.round(options.memoryMb * memoryPart * 1024 * 1024))],
    // What the page cache holds is read in place, what a disk has to bring in other threads. The system does not say which it is
    // of files in memory, and each read of them would go through another thread: a fifth of the time of a list.
    ...(statfsSync(options.path).type === IN_MEMORY ? [['local_filesystem_read_method', 'pread'] as const] : []),
  ]);
}

function readSettings(options: CoreOptions): Settings {
  return new Map([
    ...baseSettings(options, 0.5),
    ['max_execution_time', String(options.maxReadSeconds)],
    // A result is held in memory as a whole before it is sent.
    ['max_result_bytes', String(Math.round(options.memoryMb * 0.25 * 1024 * 1024))],
  ]);
}

async function query(native: Native, connection: NativeConnection, sql: string): Promise<string> {
  const result = await native.QueryAsyncConnection(connection, sql, 'TabSeparated');
  return result.bytes.toString('utf8');
}

async function verify(
  native: Native,
  connection: NativeConnection,
  wanted: Readonly<Record<string, number>>,
): Promise<void> {
  const rows = await query(native, connection, 'SELECT name, value FROM system.server_settings');
  const actual = new Map(rows.split('\n').map((row) => row.split('\t') as [string, string]));
  const unmet = unmetSettings(wanted, actual);
  if (unmet.length > 0) throw new Error(`the engine rejected its settings: ${unmet.join('; ')}`);
}

/** Probes the engine. A failed statement is an answer too (no memory just now), unless it says that the engine has died. */
async function probeWith(native: Native, connection: NativeConnection): Promise<void> {
  try {
    await query(native, connection, 'SELECT 1');
  } catch (error) {
    const wrapped = EngineError.from(error);
    if (wrapped.code === ErrorCode.aborted) throw wrapped;
  }
}
