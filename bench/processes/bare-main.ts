import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { insertedColumns } from '../../src/engine/traces/write/table-columns.js';
import { openCore, type EngineCore } from '../../src/engine/traces/clickhouse/process/engine-core.js';
import { stringLiteral } from '../../src/engine/traces/clickhouse/client/literals.js';
import { statementsIn } from '../../src/engine/traces/migrations.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { SPANS_PER_TRACE } from '../data.js';
import type { ListName } from '../list-queries.js';
import { otlpRequest } from '../otlp-requests.js';
import { binaryRows, generateSpans, jsonRows, storedOtlpSpans, storedSpans, type BinaryRows } from '../rows.js';
import { statementsOf, type RecordedStatement } from './recorded-lists.js';

// The process of a bare engine: answers one request after the other, see bare-engine.ts.

export const DATABASE = 'spanhouse';
const MEMORY_MB = 2048;
const MAX_READ_SECONDS = 600;
/** Versions of the rows inserted here begin at this moment, a little after the versions' own epoch. */
const FIRST_VERSION = 40_000_000_000_000;
/** Traces generated and encoded at once; keeps the garbage small. */
const TRACES_AT_ONCE = 500;

export type BareRequest =
  | { readonly type: 'open' }
  /** Generates and encodes these spans; nothing of it is in any time measured later. */
  | {
      readonly type: 'prepare';
      readonly seed: number;
      readonly traces: number;
      /** Default: REST. With OTLP, only RowBinary is prepared. */
      readonly through?: 'otlp';
    }
  /** Inserts what is prepared into an empty copy of the table `spans`, batch by batch. */
  | {
      readonly type: 'insert';
      readonly format: 'RowBinary' | 'JSONEachRow';
      readonly batchRows: number;
      readonly rows: number;
      /** Statements under way at once, default 1; as many as the server's engine runs at once go on, the rest wait. */
      readonly clients?: number;
    }
  /** Answers the statements that the store sends for a list. */
  | { readonly type: 'record'; readonly list: ListName; readonly search: string }
  /** Runs the statements one after the other. Answers milliseconds. */
  | { readonly type: 'read'; readonly statements: readonly RecordedStatement[] }
  /** Answers the rows of a statement. */
  | { readonly type: 'query'; readonly sql: string }
  | { readonly type: 'command'; readonly sql: string }
  | { readonly type: 'close' };

/** In milliseconds; `cpu` is the processor time of the whole process meanwhile. */
export interface InsertTimes {
  readonly elapsed: number;
  readonly cpu: number;
}

export type BareAnswer<R extends BareRequest> = R extends { type: 'open' }
  ? string
  : R extends { type: 'insert' }
    ? InsertTimes
    : R extends { type: 'read' }
      ? number
      : R extends { type: 'record' }
        ? RecordedStatement[]
        : R extends { type: 'query' }
          ? Readonly<Record<string, string | number>>[]
          : undefined;

export interface BareFailure {
  readonly failure: string;
}

let core: EngineCore | undefined;
let prepared: { binary: BinaryRows; json: string[] } | undefined;

function engine(): EngineCore {
  if (core === undefined) throw new Error('not open');
  return core;
}

async function answer(request: BareRequest): Promise<unknown> {
  switch (request.type) {
    case 'open':
      core = await openCore({
        path: process.argv[2] ?? '',
        database: DATABASE,
        memoryMb: MEMORY_MB,
        maxReadSeconds: MAX_READ_SECONDS,
        onBroken: (detail) => {
          throw new Error(detail);
        },
      });
      return core.version;
    case 'prepare':
      prepared = prepare(request);
      return undefined;
    case 'insert':
      return insert(request);
    case 'record':
      return statementsOf(engine(), request.list, request.search);
    case 'read':
      return read(request.statements);
    case 'query':
      return query(request.sql);
    case 'command':
      await engine().commands.run({ sql: request.sql, format: 'Null', settings: new Map() });
      return undefined;
    case 'close':
      await engine().close();
      return process.kill(process.pid, 'SIGKILL');
  }
}

function prepare({ seed, traces, through }: Extract<BareRequest, { type: 'prepare' }>) {
  const chunks: Buffer[] = [];
  const starts: number[] = [];
  const json: string[] = [];
  let length = 0;
  for (let from = 0; from < traces; from += TRACES_AT_ONCE) {
    const sent = generateSpans(seed, from, Math.min(traces, from + TRACES_AT_ONCE));
    const spans = through === 'otlp' ? storedOtlpSpans(otlpRequest(sent, 'protobuf')) : storedSpans(sent);
    const first = FIRST_VERSION + from * SPANS_PER_TRACE;
    const rows = binaryRows(spans, first);
    for (const start of rows.starts) starts.push(length + start);
    chunks.push(rows.bytes);
    length += rows.bytes.length;
    if (through !== 'otlp') for (const row of jsonRows(spans, first)) json.push(row);
  }
  return { binary: { bytes: Buffer.concat(chunks), starts }, json };
}

async function insert(request: Extract<BareRequest, { type: 'insert' }>): Promise<InsertTimes> {
  const { format, batchRows, rows, clients = 1 } = request;
  if (prepared === undefined) throw new Error('nothing is prepared');
  const { commands, inserts } = engine();
  const settings = new Map<string, string>();
  await commands.run({ sql: 'DROP TABLE IF EXISTS bare_spans SYNC', format: 'Null', settings });
  await createTables();
  await commands.run({ sql: 'CREATE TABLE bare_spans AS spans', format: 'Null', settings });
  const directory = mkdtempSync(join(tmpdir(), 'spanhouse-bench-'));
  try {
    const statements = batchesOf(prepared, format, batchRows, rows).map((batch, index) => {
      const file = join(directory, String(index));
      writeFileSync(file, batch);
      return `INSERT INTO bare_spans (${insertedColumns.spans.join(', ')}) FROM INFILE ${stringLiteral(file)} COMPRESSION 'none' FORMAT ${format}`;
    });
    const [started, before] = [performance.now(), process.cpuUsage()];
    const left = statements.values();
    const client = async () => {
      for (const sql of left) await inserts.run({ sql, format: 'Null', settings });
    };
    await Promise.all(Array.from({ length: clients }, client));
    const { user, system } = process.cpuUsage(before);
    return { elapsed: performance.now() - started, cpu: (user + system) / 1000 };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function batchesOf(
  { binary, json }: NonNullable<typeof prepared>,
  format: string,
  batchRows: number,
  rows: number,
): Buffer[] {
  const count = Math.min(rows, binary.starts.length);
  const batches: Buffer[] = [];
  for (let from = 0; from < count; from += batchRows) {
    const to = Math.min(count, from + batchRows);
    if (format === 'JSONEachRow') batches.push(Buffer.from(json.slice(from, to).join('\n')));
    else batches.push(binary.bytes.subarray(binary.starts[from], binary.starts[to] ?? binary.bytes.length));
  }
  return batches;
}

/** All tables of the schema. The views are on `spans` itself: a copy of it has none. */
async function createTables(): Promise<void> {
  const settings = new Map<string, string>();
  for (const { sql } of readMigrationFiles(schemaDirectory('clickhouse')))
    for (const statement of statementsIn(sql))
      await engine().commands.run({ sql: statement, format: 'Null', settings });
}

async function read(statements: readonly RecordedStatement[]): Promise<number> {
  const settings = new Map([['use_query_condition_cache', '0']]);
  const started = performance.now();
  for (const statement of statements) await engine().reads.run({ ...statement, settings });
  return performance.now() - started;
}

async function query(sql: string): Promise<unknown[]> {
  const { bytes } = await engine().reads.run({ sql, format: 'JSONEachRow', settings: new Map() });
  const lines = bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as unknown);
}

process.on('message', (request: BareRequest) => {
  answer(request).then(
    (result) => process.send?.({ answer: result }),
    (error: unknown) =>
      process.send?.({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
// The bench is gone: nobody is left to answer.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
