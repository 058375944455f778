import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { connect } from '../src/engine/traces/clickhouse/client/client.js';
import type { ClickHouseClient } from '../src/engine/traces/clickhouse/client/client.js';
import { loadNative } from '../src/engine/traces/clickhouse/process/native.js';
import type { Native, NativeConnection, NativeResult } from '../src/engine/traces/clickhouse/process/native.js';
import { startEngine } from '../src/engine/traces/clickhouse/process/supervisor.js';
import { captureContext, writeResults } from './results.js';
import { sql } from '../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../test/harness/statement.js';

interface CommandOptions {
  readonly rounds: string;
  readonly rows: string;
  readonly write: boolean;
}

/** `engine-hop`: what the engine process and its HTTP cost, against the same engine called in this process. */
export function register(program: Command): void {
  program
    .command('engine-hop')
    .description('insert and query through the engine process and, round by round in turn, in this process')
    .option('--rounds <n>', 'inserts and queries of each side', '40')
    .option('--rows <n>', 'rows of one insert, 2,400 bytes each', '1000')
    .option('--no-write', 'print only')
    .action(async (options: CommandOptions) => {
      const context = captureContext();
      const { insert, query, engine } = await run({ rounds: Number(options.rounds), rows: Number(options.rows) });
      const table = [
        ['insert', insert.inProcess.toFixed(1), insert.throughEngine.toFixed(1), `x ${insert.ratio.toFixed(2)}`],
        ['query', query.inProcess.toFixed(1), query.throughEngine.toFixed(1), `+ ${query.added.toFixed(1)} ms`],
      ];
      for (const row of table) console.log(row.join('  '));
      if (!options.write) return;
      writeResults({
        name: 'Engine hop',
        command: 'npm run bench -- engine-hop',
        context,
        engine,
        about:
          `Medians of ${options.rounds} rounds in ms, both sides in turn: an insert of ${options.rows} rows of 2,400 bytes ` +
          'in RowBinary and a point query, by the addon in this process and by the client over HTTP to the engine process.',
        columns: ['', 'in process', 'through the engine process', 'cost of the hop'],
        rows: table,
      });
    });
}

export interface EngineHopOptions {
  /** Inserts and queries measured per side; default 40. */
  readonly rounds?: number;
  /** Rows of one insert; default 1,000. */
  readonly rows?: number;
  /** Bytes of one row, about; default 2,400. */
  readonly rowBytes?: number;
}

/** Medians in milliseconds; `ratio` and `added` are of the paired rounds. */
export interface EngineHopResult {
  readonly insert: { readonly inProcess: number; readonly throughEngine: number; readonly ratio: number };
  readonly query: { readonly inProcess: number; readonly throughEngine: number; readonly added: number };
  /** Version of the engine. */
  readonly engine: string;
}

const MEMORY_MB = 1024;
const DDL = 'CREATE TABLE IF NOT EXISTS hop.r (id UInt64, t String CODEC(ZSTD(1))) ENGINE = MergeTree ORDER BY id';
const QUERY = 'SELECT count() AS n FROM hop.r WHERE id = 4242';

/** Interleaves both sides round by round, so that a noisy machine is unkind to both alike. */
export async function run(options: EngineHopOptions = {}): Promise<EngineHopResult> {
  const { rounds = 40, rows = 1_000, rowBytes = 2_400 } = options;
  const directory = await mkdtemp(join(tmpdir(), 'spanhouse-hop-'));
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const engine = await startEngine({
    path: join(directory, 'engine'),
    database: 'hop',
    memoryMb: MEMORY_MB,
    maxReadSeconds: 30,
    logger: quiet,
  });
  const client = connect(engine.endpoint);
  const native = loadNative();
  const connection = native.CreateConnection(join(directory, 'inside'), [
    `--max_server_memory_usage=${MEMORY_MB * 1024 * 1024}`,
    '--background_pool_size=2',
    '--mark_cache_size=53687091',
  ]);
  try {
    await native.QueryAsyncConnection(
      connection,
      'SET async_insert = 0; CREATE DATABASE IF NOT EXISTS hop ENGINE = Atomic',
      'Null',
    );
    await native.QueryAsyncConnection(connection, DDL, 'Null');
    await client.command(statementOf(DDL));
    const result = await measure({ native, connection, client }, rounds, () => rowBinary(rows, rowBytes));
    const [version] = await client.query<{ v: string }>(sql`SELECT version() AS v`);
    return { ...result, engine: version?.v ?? 'unknown' };
  } finally {
    native.CloseConnection(connection);
    await client.close();
    await engine.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Sides {
  readonly native: Native;
  readonly connection: NativeConnection;
  readonly client: ClickHouseClient;
}

async function measure(
  { native, connection, client }: Sides,
  rounds: number,
  batch: () => Buffer,
): Promise<Omit<EngineHopResult, 'engine'>> {
  // chDB's own way for data in memory; see InsertFiles for why the engine process does not use it.
  const raw = native as Native & {
    InsertRawAsyncConnection(to: NativeConnection, prefix: string, data: Buffer, lines: boolean): Promise<NativeResult>;
  };
  const inserts = {
    inside: (data: Buffer) =>
      raw.InsertRawAsyncConnection(connection, 'INSERT INTO hop.r (id, t) FORMAT RowBinary ', data, false),
    through: (data: Buffer) => client.insert('r', ['id', 't'], 'RowBinary', data),
  };
  const queries = {
    inside: async () =>
      JSON.parse(
        (await native.QueryAsyncConnection(connection, QUERY, 'JSONEachRow')).bytes.toString('utf8'),
      ) as unknown,
    through: () => client.query(statementOf(QUERY)),
  };
  const insert = { inside: [] as number[], through: [] as number[] };
  const query = { inside: [] as number[], through: [] as number[] };
  for (let round = -5; round < rounds; round++) {
    const data = batch();
    // Who goes first changes, as the second finds warmer caches.
    const order = round % 2 === 0 ? (['inside', 'through'] as const) : (['through', 'inside'] as const);
    for (const side of order) {
      const took = await timed(() => inserts[side](data));
      if (round >= 0) insert[side].push(took);
    }
    for (const side of order) {
      const took = await timed(queries[side]);
      if (round >= 0) query[side].push(took);
    }
  }
  return {
    insert: {
      inProcess: median(insert.inside),
      throughEngine: median(insert.through),
      ratio: median(insert.through) / median(insert.inside),
    },
    query: {
      inProcess: median(query.inside),
      throughEngine: median(query.through),
      added: median(query.through) - median(query.inside),
    },
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Rows of text that compresses about as prompts do: half words, half noise. */
function rowBinary(rows: number, rowBytes: number): Buffer {
  const words = Buffer.from(
    'the model answered that the invoice of the customer had been paid in full '.repeat(Math.ceil(rowBytes / 140)),
  );
  const parts: Buffer[] = [];
  for (let row = 0; row < rows; row++) {
    const noise = Buffer.from(randomBytes(Math.floor(rowBytes / 4)).toString('hex'));
    const text = Buffer.concat([noise, words.subarray(0, rowBytes - noise.length)]);
    const head = Buffer.alloc(8);
    // Every byte odd, so that no empty line cuts the data short in process.
    head.writeBigUInt64LE(BigInt(Math.floor(Math.random() * 2 ** 31)) | 0x01010101n);
    parts.push(head, varint(text.length), text);
  }
  return Buffer.concat(parts);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) {
      bytes.push(rest);
      return Buffer.from(bytes);
    }
    bytes.push((rest & 0x7f) | 0x80);
  }
}
