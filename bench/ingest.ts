import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS, requestBodies, SINGLE_CLIENTS, singleBodies } from './bodies.js';
import { SPANS_PER_TRACE } from './data.js';
import { against, figure, median, megabytes, percentile, printTable } from './figures.js';
import { wholeNumber } from './options.js';
import { startBareEngine } from './processes/bare-engine.js';
import type { InsertTimes } from './processes/bare-main.js';
import type { Bodies, LoadOutcome } from './processes/load.js';
import { startPlainProcess, startServerProcess, type ServerProcess } from './processes/server.js';
import { loadServer, type ServerLoad } from './server-load.js';
import { startProgress } from '../scripts/progress.js';
import { captureContext, writeResults } from './results.js';

/** The widest group that the requests under way at once can form: what the bare engine inserts at once. */
const GROUP_ROWS = REQUEST_SPANS * REQUEST_CLIENTS;
const TARGET = 0.4;
/** Processor time of a span that is checked, priced, rolled up and given back, to that of a row that is only inserted. */
const PROCESSOR_TARGET = 3;

interface Options {
  readonly spans: number;
  readonly singles: number;
  readonly repetitions: number;
  readonly seed: number;
  readonly threads: number;
  readonly profile?: string;
  readonly write: boolean;
}

interface CommittedLoad extends ServerLoad {
  readonly rowsPerCommit: number;
  /** Processor time of the server's main thread. */
  readonly mainMs: number;
}

/** Measurements of one repetition. */
interface Run {
  readonly readyMs: number;
  readonly bare: {
    readonly ungrouped: InsertTimes;
    readonly binary: InsertTimes;
    readonly json: InsertTimes;
    readonly singles: InsertTimes;
  };
  readonly plain: { readonly requests: ServerLoad; readonly singles: ServerLoad };
  readonly requests: CommittedLoad;
  readonly singles: CommittedLoad;
  readonly memory: { readonly server: number; readonly engine: number };
  readonly bytesSent: number;
  readonly disk: { readonly before: number; readonly after: number };
  readonly engine: string;
}

/** `ingest`: how fast the server takes spans in, against inserts of the same rows into the bare engine. */
export function register(program: Command): void {
  program
    .command('ingest')
    .description('send spans to a fresh server over HTTP, and insert the same rows into the bare engine')
    .option(
      '--spans <n>',
      'spans sent in requests of 120, per repetition',
      wholeNumber(REQUEST_SPANS, 500_000),
      100_000,
    )
    .option(
      '--singles <n>',
      'spans sent one per request, per repetition',
      wholeNumber(SPANS_PER_TRACE, 500_000),
      20_000,
    )
    .option('--repetitions <n>', 'repetitions, each on empty data; medians are reported', wholeNumber(1, 99), 3)
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--threads <n>', 'threads of the server that read bodies (INGEST_THREADS)', wholeNumber(0, 64), 0)
    .option('--profile <dir>', 'write a CPU profile of each server to this folder (slows it a little)')
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

async function bench(options: Options): Promise<void> {
  const context = captureContext();
  const runs: Run[] = [];
  for (let repetition = 0; repetition < options.repetitions; repetition += 1) {
    process.stderr.write(`Repetition ${repetition + 1} of ${options.repetitions}\n`);
    runs.push(await repeat(options, repetition));
  }
  const { columns, rows } = tableOf(options, runs);
  printTable(columns, rows);
  if (!options.write) return;
  const { spans, singles, repetitions, threads } = options;
  writeResults({
    name: 'Ingest',
    command: `npm run bench -- ingest --spans ${spans} --singles ${singles} --repetitions ${repetitions}${threads === 0 ? '' : ` --threads ${threads}`}`,
    context,
    engine: runs[0]?.engine ?? 'unknown',
    about:
      `Spans of ${figure(meanSpanBytes(options))} bytes of JSON, sent over HTTP by a thread outside the server's process to a fresh server with default ` +
      `settings: ${spans} in requests of ${REQUEST_SPANS} by ${REQUEST_CLIENTS} clients, then ${singles} one by one by ${SINGLE_CLIENTS} clients, ` +
      `where the spans of a trace come in different requests. Answers are whole spans, as without \`Prefer\`. The bare engine is chDB alone on the machine: inserts ` +
      `of the same rows, prepared as RowBinary (or JSONEachRow), one after the other into a copy of the table \`spans\` without views, with fsync as in the server: ` +
      `${GROUP_ROWS} rows at once for the large requests, ${SINGLE_CLIENTS} for the one-span requests, the most that the clients can have under way together; and ${REQUEST_SPANS} rows at once, as the ${REQUEST_CLIENTS} clients would send them. ` +
      `The plain server takes the same requests from the same clients into the same copy: it parses them, inserts what waits as one group of JSONEachRow, and ` +
      `answers \`{}\`; it checks, prices and rolls up nothing. Medians of ${repetitions} repetitions, server first in every other.`,
    columns,
    rows,
  });
}

async function repeat(options: Options, repetition: number): Promise<Run> {
  const directory = await mkdtemp(join(tmpdir(), 'spanhouse-bench-'));
  const seed = options.seed + repetition * 1000;
  try {
    const bareFirst = repetition % 2 === 0;
    const measureOthers = async () => ({
      ...(await measureBare(options, seed, join(directory, 'bare'))),
      plain: await measurePlain(options, seed, join(directory, 'plain')),
    });
    const early = bareFirst ? await measureOthers() : null;
    const server = await measureServer(options, seed, join(directory, 'server'));
    const others = early ?? (await measureOthers());
    const disk = await measureDisk(join(directory, 'server', 'clickhouse'));
    return { ...server, ...others, disk };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function measureBare(options: Options, seed: number, path: string): Promise<Pick<Run, 'bare' | 'engine'>> {
  const progress = startProgress('bare engine', 5, 'steps');
  const engine = await startBareEngine(path);
  try {
    await engine.ask({ type: 'prepare', seed, traces: Math.ceil(options.spans / SPANS_PER_TRACE) });
    progress.update(1);
    const binary = await engine.ask({
      type: 'insert',
      format: 'RowBinary',
      batchRows: GROUP_ROWS,
      rows: options.spans,
    });
    progress.update(2);
    const json = await engine.ask({
      type: 'insert',
      format: 'JSONEachRow',
      batchRows: GROUP_ROWS,
      rows: options.spans,
    });
    progress.update(3);
    const rows = Math.min(options.singles, options.spans);
    const singles = await engine.ask({ type: 'insert', format: 'RowBinary', batchRows: SINGLE_CLIENTS, rows });
    progress.update(4);
    const ungrouped = await engine.ask({
      type: 'insert',
      format: 'RowBinary',
      batchRows: REQUEST_SPANS,
      clients: REQUEST_CLIENTS,
      rows: options.spans,
    });
    progress.update(5);
    const scale = options.singles / rows;
    const scaled = { elapsed: singles.elapsed * scale, cpu: singles.cpu * scale };
    return { bare: { ungrouped, binary, json, singles: scaled }, engine: engine.version };
  } finally {
    progress.stop();
    await engine.stop();
  }
}

async function measurePlain(options: Options, seed: number, dataDir: string): Promise<Run['plain']> {
  const server = await startPlainProcess(dataDir);
  try {
    return {
      requests: await loadServer(server, 'plain server, 120 spans', requestBodies(seed, options.spans), {
        clients: REQUEST_CLIENTS,
      }),
      singles: await loadServer(server, 'plain server, one span', singleBodies(seed + 1, options.singles), {
        clients: SINGLE_CLIENTS,
      }),
    };
  } finally {
    await server.stop();
  }
}

async function measureServer(options: Options, seed: number, dataDir: string) {
  const requests = requestBodies(seed, options.spans);
  const singles = singleBodies(seed + 1, options.singles);
  const nodeArguments = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
  const env = { INGEST_THREADS: String(options.threads) };
  const server = await startServerProcess({ dataDir, nodeArguments, env });
  try {
    const requestOutcome = await loadCommitted(server, '120 spans a request', requests, REQUEST_CLIENTS);
    const singleOutcome = await loadCommitted(server, 'one span a request', singles, SINGLE_CLIENTS);
    return {
      readyMs: server.readyMs,
      requests: requestOutcome,
      singles: singleOutcome,
      memory: server.peakMemory(),
      bytesSent: requests.bytes + singles.bytes,
    };
  } finally {
    await server.stop();
  }
}

async function loadCommitted(
  server: ServerProcess,
  label: string,
  bodies: Bodies,
  clients: number,
): Promise<CommittedLoad> {
  const [before, mainBefore] = [await server.commits(), server.mainThreadMs()];
  const outcome = await loadServer(server, label, bodies, { clients }, () => server.settled());
  const after = await server.commits();
  const mainMs = server.mainThreadMs() - mainBefore;
  return { ...outcome, mainMs, rowsPerCommit: (after.rows - before.rows) / (after.count - before.count) };
}

function meanSpanBytes({ seed }: Options): number {
  const bodies = requestBodies(seed, REQUEST_SPANS * 5);
  return bodies.bytes / (REQUEST_SPANS * 5);
}

/** Bytes of everything the engine stores, as the server left it and once all parts are merged. */
async function measureDisk(path: string): Promise<Run['disk']> {
  const engine = await startBareEngine(path);
  try {
    const bytes = async () => {
      const [row] = await engine.ask({
        type: 'query',
        sql: `SELECT toFloat64(sum(bytes_on_disk)) AS bytes FROM system.parts WHERE active AND database = 'spanhouse'`,
      });
      return Number(row?.['bytes'] ?? NaN);
    };
    const before = await bytes();
    const tables = await engine.ask({
      type: 'query',
      sql: `SELECT name FROM system.tables WHERE database = 'spanhouse' AND engine LIKE '%MergeTree'`,
    });
    for (const { name } of tables) await engine.ask({ type: 'command', sql: `OPTIMIZE TABLE ${String(name)} FINAL` });
    return { before, after: await bytes() };
  } finally {
    await engine.stop();
  }
}

function tableOf({ spans, singles }: Options, runs: readonly Run[]) {
  const of = (value: (run: Run) => number) => median(runs.map(value));
  const perSecond = (count: number, ms: number) => (count / ms) * 1000;
  const ratio = (value: number, target: number) => [figure(value), against(value, '≥', target)];
  const latency = (outcome: (run: Run) => LoadOutcome) => {
    const all = runs.flatMap((run) => outcome(run).latencies);
    return [50, 95, 99].map((share) => figure(percentile(all, share))).join(' / ');
  };
  const cpu = (count: number, load: (run: Run) => CommittedLoad, bare: (run: Run) => InsertTimes) =>
    [
      (run: Run) => load(run).cpu.server,
      (run: Run) => load(run).mainMs,
      (run: Run) => load(run).cpu.engine,
      (run: Run) => bare(run).cpu,
    ]
      .map((ms) => figure((of(ms) / count) * 1000))
      .join(' / ');
  const TIME_SPENT = '  processor time per span, µs: server / its main thread / engine / bare engine';
  const maximum = (value: (run: Run) => number) => Math.max(...runs.map(value));
  const singleRate = of((run) => perSecond(singles, run.singles.ms));
  const memory = { server: maximum((run) => run.memory.server), engine: maximum((run) => run.memory.engine) };
  const processorRatio = of(({ requests: { cpu }, bare }) => (cpu.server + cpu.engine) / bare.binary.cpu);
  const diskRatio = of((run) => run.bytesSent / run.disk.after);
  const rows: (string | number)[][] = [
    ['bare engine, RowBinary, spans/s', figure(of((run) => perSecond(spans, run.bare.binary.elapsed))), ''],
    ['bare engine, JSONEachRow, spans/s', figure(of((run) => perSecond(spans, run.bare.json.elapsed))), ''],
    [
      `bare engine, RowBinary, ${REQUEST_SPANS} rows at once by ${REQUEST_CLIENTS} clients, spans/s`,
      figure(of((run) => perSecond(spans, run.bare.ungrouped.elapsed))),
      '',
    ],
    ['plain server, 120-span requests, spans/s', figure(of((run) => perSecond(spans, run.plain.requests.ms))), ''],
    ['server, 120-span requests, spans/s', figure(of((run) => perSecond(spans, run.requests.ms))), ''],
    [
      '  ratio to the plain server',
      ...ratio(
        of((run) => run.plain.requests.ms / run.requests.ms),
        TARGET,
      ),
    ],
    [
      '  ratio to the bare engine, request by request',
      ...ratio(
        of((run) => run.bare.ungrouped.elapsed / run.requests.ms),
        TARGET,
      ),
    ],
    ['  ratio to RowBinary into the bare engine', figure(of((run) => run.bare.binary.elapsed / run.requests.ms)), ''],
    ['  ratio to JSONEachRow into the bare engine', figure(of((run) => run.bare.json.elapsed / run.requests.ms)), ''],
    ['  p50 / p95 / p99 of a request, ms', latency((run) => run.requests), ''],
    [
      TIME_SPENT,
      cpu(
        spans,
        (run) => run.requests,
        (run) => run.bare.binary,
      ),
      '',
    ],
    [
      '    server and engine to the bare engine',
      figure(processorRatio),
      against(processorRatio, '≤', PROCESSOR_TARGET),
    ],
    ['  spans per commit, mean', figure(of((run) => run.requests.rowsPerCommit)), ''],
    [
      `bare engine, RowBinary, ${SINGLE_CLIENTS} rows at once, spans/s`,
      figure(of((run) => perSecond(singles, run.bare.singles.elapsed))),
      '',
    ],
    ['plain server, one-span requests/s', figure(of((run) => perSecond(singles, run.plain.singles.ms))), ''],
    ['server, one-span requests/s', figure(singleRate), against(singleRate, '≥', 1000)],
    [
      '  ratio to the plain server',
      ...ratio(
        of((run) => run.plain.singles.ms / run.singles.ms),
        TARGET,
      ),
    ],
    ['  p50 / p95 / p99 of a request, ms', latency((run) => run.singles), ''],
    [
      TIME_SPENT,
      cpu(
        singles,
        (run) => run.singles,
        (run) => run.bare.singles,
      ),
      '',
    ],
    ['  spans per commit, mean', figure(of((run) => run.singles.rowsPerCommit)), ''],
    ['server process, peak memory', megabytes(memory.server), against(memory.server / 2 ** 20, '<', 400)],
    ['engine process, peak memory', megabytes(memory.engine), against(memory.engine / 2 ** 20, '≤', 2048)],
    ['JSON sent', megabytes(of((run) => run.bytesSent)), ''],
    ['on disk when the server stopped, rollups included', megabytes(of((run) => run.disk.before)), ''],
    ['  JSON bytes per byte on disk', figure(of((run) => run.bytesSent / run.disk.before)), ''],
    ['on disk after all merges', megabytes(of((run) => run.disk.after)), ''],
    ['  JSON bytes per byte on disk', figure(diskRatio), against(diskRatio, '≥', 6)],
    [
      'ready on empty data, s',
      figure(of((run) => run.readyMs) / 1000),
      against(of((run) => run.readyMs) / 1000, '<', 3),
    ],
  ];
  return { columns: ['measured', 'figure', 'target'], rows };
}
