import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { copyData } from './data-dir.js';
import { against, figure, median, printTable } from './figures.js';
import { fill } from './fill.js';
import { listQueries, type ListQueryCase, type Samples } from './list-queries.js';
import { wholeNumber } from './options.js';
import { startBareEngine, type BareEngine } from './processes/bare-engine.js';
import { call } from './processes/call.js';
import { startServerProcess, type ServerProcess } from './processes/server.js';
import { startProgress } from '../scripts/progress.js';
import { captureContext, writeResults } from './results.js';

const MAX_RATIO = 1.5;
const MAX_GROWTH = { steady: 1.5, bounded: 6 };
/** A query that takes long is measured fewer times. */
const BUDGET_MS = 15_000;
const MIN_REPETITIONS = 3;

interface Options {
  readonly spans: number;
  readonly compare?: readonly number[];
  readonly repetitions: number;
  readonly only?: string;
  readonly seed: number;
  readonly keep?: string;
  readonly data?: string;
  readonly write: boolean;
}

/** Medians of one query on one size, in milliseconds. */
interface Measured {
  readonly query: ListQueryCase;
  readonly http: number;
  readonly sql: number;
  readonly bytes: number;
}

interface SizeResult {
  readonly spans: number;
  readonly startMs: number;
  readonly engine: string;
  readonly measured: readonly Measured[];
}

/** `lists`: how long every list, filter and sort takes over HTTP, and its SQL alone on the bare engine. */
export function register(program: Command): void {
  program
    .command('lists')
    .description('fill a server with spans, then time every list, filter and sort over HTTP against its SQL alone')
    .option('--spans <n>', 'spans to fill in', wholeNumber(1000, 100_000_000), 1_000_000)
    .option('--compare <sizes>', 'measure at these sizes and tell how queries grow, such as 1000000,10000000', sizes)
    .option(
      '--repetitions <n>',
      'measurements of each query after one to warm up; medians count',
      wholeNumber(1, 999),
      15,
    )
    .option('--only <text>', 'only queries whose name holds this text')
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--keep <dir>', 'keep the filled data in this folder, in a subfolder per size')
    .option('--data <dir>', 'use data left by --keep; sizes that are missing are filled in and left there too')
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

function sizes(text: string): number[] {
  const parse = wholeNumber(1000, 100_000_000);
  const list = text.split(',').map((size) => parse(size.trim()));
  if (list.length < 2) throw new InvalidArgumentError('It must be two or more sizes, separated by commas.');
  return list.sort((a, b) => a - b);
}

async function bench(options: Options): Promise<void> {
  const context = captureContext();
  const results: SizeResult[] = [];
  for (const spans of options.compare ?? [options.spans]) results.push(await measureSize(spans, options));
  for (const { spans, measured, startMs } of results) {
    process.stdout.write(`\n${spans.toLocaleString('en')} spans (start on this data: ${figure(startMs / 1000)} s)\n\n`);
    printTable(COLUMNS, measured.map(rowOf));
  }
  const growth = results.length > 1 ? growthTable(results) : null;
  if (growth !== null) {
    process.stdout.write('\nGrowth\n\n');
    printTable(growth.columns, growth.rows);
  }
  if (!options.write) return;
  const { repetitions } = options;
  for (const { spans, engine, measured, startMs } of results) {
    writeResults({
      name: `Lists at ${spans.toLocaleString('en')} spans`,
      command: `npm run bench -- lists --spans ${spans} --repetitions ${repetitions}`,
      context,
      engine,
      about:
        `Medians of up to ${repetitions} calls after one to warm up, HTTP and SQL in turn. HTTP: a call of the real server ` +
        `with one kept-alive connection, until the last byte. SQL: the statements that the server sends for it, one after the other, run in a chDB process of ` +
        `their own on a copy of the same files. The server was ready on this data in ${figure(startMs / 1000)} s.`,
      columns: COLUMNS,
      rows: measured.map(rowOf),
    });
  }
  if (growth === null) return;
  writeResults({
    name: `Lists, growth`,
    command: `npm run bench -- lists --compare ${results.map(({ spans }) => spans).join(',')} --repetitions ${repetitions}`,
    context,
    engine: results[0]?.engine ?? 'unknown',
    about: 'The HTTP times of the sections above, side by side.',
    ...growth,
  });
}

async function measureSize(spans: number, options: Options): Promise<SizeResult> {
  const kept = options.data ?? options.keep;
  const directory =
    kept === undefined ? await mkdtemp(join(tmpdir(), 'spanhouse-bench-')) : join(resolve(kept), String(spans));
  const snapshot = `${directory}-bare`;
  try {
    await fill(directory, spans, options.seed);
    await rm(snapshot, { recursive: true, force: true });
    await copyData(join(directory, 'clickhouse'), snapshot);
    const server = await startServerProcess({ dataDir: directory });
    const bare = await startBareEngine(snapshot);
    try {
      const measured = await measureQueries(spans, options, server, bare);
      return { spans, startMs: server.readyMs, engine: bare.version, measured };
    } finally {
      await bare.stop();
      await server.stop();
    }
  } finally {
    await rm(snapshot, { recursive: true, force: true });
    if (kept === undefined) await rm(directory, { recursive: true, force: true });
  }
}

async function measureQueries(
  spans: number,
  { repetitions, only }: Options,
  server: ServerProcess,
  bare: BareEngine,
): Promise<Measured[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const all = listQueries(spans, await samples(server, spans, agent));
  const queries = all.filter(({ name }) => only === undefined || name.includes(only));
  const progress = startProgress(`measuring at ${spans.toLocaleString('en')} spans`, queries.length, 'queries');
  const measured: Measured[] = [];
  try {
    for (const query of queries) {
      measured.push(await measure(query, repetitions, server, bare, agent));
      progress.update(measured.length);
    }
    return measured;
  } finally {
    progress.stop();
    agent.destroy();
  }
}

async function measure(
  query: ListQueryCase,
  repetitions: number,
  server: ServerProcess,
  bare: BareEngine,
  agent: Agent,
): Promise<Measured> {
  const path = `/${query.list}?${query.search}`;
  // Both reads that find out what is asked warm up, too.
  const statements = await bare.ask({ type: 'record', list: query.list, search: query.search });
  const { length: bytes } = await get(server, path, agent);
  const http: number[] = [];
  const sql: number[] = [];
  const until = performance.now() + BUDGET_MS;
  for (let run = 0; run < repetitions && (run < MIN_REPETITIONS || performance.now() < until); run += 1) {
    const overHttp = async () => {
      const started = performance.now();
      await get(server, path, agent);
      http.push(performance.now() - started);
    };
    const alone = async () => sql.push(await bare.ask({ type: 'read', statements }));
    for (const side of run % 2 === 0 ? [overHttp, alone] : [alone, overHttp]) await side();
  }
  return { query, http: median(http), sql: median(sql), bytes };
}

/** Objects out of the middle of the data. */
async function samples(server: ServerProcess, spans: number, agent: Agent): Promise<Samples> {
  const offset = Math.floor(spans / 24);
  const read = async (path: string) => {
    const [first] = JSON.parse((await get(server, path, agent)).toString('utf8')) as Record<string, unknown>[];
    if (first === undefined) throw new Error(`there is nothing at ${path}`);
    return first;
  };
  const trace = await read(`/traces?limit=1&offset=${offset}`);
  const root = await read(`/spans?trace_id=${String(trace['id'])}&parent_span_id=null`);
  const tags = root['tags'] as Record<string, string>;
  return {
    traceId: String(trace['id']),
    sessionId: String(trace['session_id']),
    spanId: String(root['id']),
    user: String(tags['user']),
  };
}

async function get({ url, key }: ServerProcess, path: string, agent: Agent): Promise<Buffer> {
  const { status, problem, body } = await call({ agent, target: new URL(path, url), key, keepBody: true });
  if (status !== 200) throw new Error(`GET ${path} was answered ${status}: ${problem}`);
  return body;
}

const COLUMNS = ['query', 'HTTP, ms', 'SQL alone, ms', 'ratio', `target ≤ ${MAX_RATIO}`, 'answer, KB'];

function rowOf({ query, http, sql, bytes }: Measured): string[] {
  const verdict = http / sql <= MAX_RATIO ? 'met' : 'NOT met';
  return [query.name, figure(http), figure(sql), figure(http / sql), verdict, figure(bytes / 1024)];
}

function growthTable(results: readonly SizeResult[]) {
  const [small, large] = [results[0], results.at(-1)];
  const columns = ['query', ...results.map(({ spans }) => `${spans.toLocaleString('en')}, ms`), 'growth', 'target'];
  const rows = (small?.measured ?? []).map(({ query, http }) => {
    const of = (result: SizeResult | undefined) =>
      result?.measured.find((other) => other.query.name === query.name)?.http ?? NaN;
    const growth = of(large) / http;
    return [
      query.name,
      ...results.map((result) => figure(of(result))),
      figure(growth),
      against(growth, '≤', MAX_GROWTH[query.growth]),
    ];
  });
  return { columns, rows };
}
