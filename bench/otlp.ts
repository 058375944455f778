import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { SPANS_PER_TRACE } from './data.js';
import { against, figure, median, percentile, printTable } from './figures.js';
import { wholeNumber } from './options.js';
import { CONTENT_TYPES, otlpRequest, type Encoding } from './otlp-requests.js';
import { startBareEngine } from './processes/bare-engine.js';
import type { InsertTimes } from './processes/bare-main.js';
import { Bodies } from './processes/load.js';
import { startPlainProcess, startServerProcess, type PlainProcess } from './processes/server.js';
import { loadServer, type ServerLoad } from './server-load.js';
import { captureContext, writeResults } from './results.js';
import { generateSpans } from './rows.js';

const REQUEST_SPANS = 512;
const CLIENTS = 8;
/** Rows that the bare engine inserts at once: the largest group commit of the requests under way at once. */
const GROUP_ROWS = REQUEST_SPANS * CLIENTS;
const TARGET = 0.4;

interface Options {
  readonly requests: number;
  readonly repetitions: number;
  readonly seed: number;
  readonly profile?: string;
  readonly write: boolean;
}

type Load = ServerLoad & { readonly bytes: number };

type Loads = Readonly<Record<Encoding, Load>>;

/** Measurements of one repetition. */
interface Run {
  readonly loads: Loads;
  readonly plain: Loads;
  readonly bare: InsertTimes;
  readonly engine: string;
}

/** `otlp`: how fast the server takes OTLP requests in, against inserts of the same rows into the bare engine. */
export function register(program: Command): void {
  program
    .command('otlp')
    .description('send OTLP requests to a fresh server over HTTP, and insert the same rows into the bare engine')
    .option('--requests <n>', 'requests of 512 spans in each encoding, per repetition', wholeNumber(1, 2000), 150)
    .option('--repetitions <n>', 'repetitions, each on empty data; medians are reported', wholeNumber(1, 99), 3)
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
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
  const { requests, repetitions } = options;
  writeResults({
    name: 'OTLP',
    command: `npm run bench -- otlp --requests ${requests} --repetitions ${repetitions}`,
    context,
    engine: runs[0]?.engine ?? 'unknown',
    about:
      `The spans of «Ingest» as the exporters of OpenTelemetry write them: ${requests} requests of ${REQUEST_SPANS} spans in each encoding, not compressed, sent ` +
      `over HTTP by ${CLIENTS} clients to a fresh server with default settings, and read, mapped, priced and stored there. The bare engine is chDB alone on the machine: inserts of the ` +
      `same rows, prepared as RowBinary, ${GROUP_ROWS} at once, one after the other into a copy of the table \`spans\` without views, with fsync as in the ` +
      `server. The plain server takes the same requests from the same clients into the same copy: it decodes them (protobufjs, or JSON.parse), inserts what waits ` +
      `as one group of JSONEachRow, and answers; it maps and checks nothing. Medians of ${repetitions} repetitions, server and bare engine first in turn, the encodings too.`,
    columns,
    rows,
  });
}

async function repeat(options: Options, repetition: number): Promise<Run> {
  const directory = await mkdtemp(join(tmpdir(), 'spanhouse-bench-'));
  const seed = options.seed + repetition * 1000;
  const even = repetition % 2 === 0;
  const measureOthers = async () => ({
    ...(await measureBare(options, seed, join(directory, 'bare'))),
    plain: await measureServer(await startPlainProcess(join(directory, 'plain')), options, seed, even),
  });
  try {
    const early = even ? await measureOthers() : null;
    const nodeArguments = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
    const server = await startServerProcess({ dataDir: join(directory, 'server'), nodeArguments });
    const loads = await measureServer(server, options, seed, even, () => server.settled());
    return { loads, ...(early ?? (await measureOthers())) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function measureBare(options: Options, seed: number, path: string): Promise<Pick<Run, 'bare' | 'engine'>> {
  const engine = await startBareEngine(path);
  try {
    const rows = options.requests * REQUEST_SPANS;
    await engine.ask({ type: 'prepare', seed, traces: tracesOf(options), through: 'otlp' });
    const bare = await engine.ask({ type: 'insert', format: 'RowBinary', batchRows: GROUP_ROWS, rows });
    return { bare, engine: engine.version };
  } finally {
    await engine.stop();
  }
}

async function measureServer(
  server: PlainProcess,
  options: Options,
  seed: number,
  even: boolean,
  settled = () => Promise.resolve(),
): Promise<Loads> {
  const encodings: Encoding[] = even ? ['protobuf', 'JSON'] : ['JSON', 'protobuf'];
  // Other spans in the second encoding, or they would replace those of the first.
  const prepared = encodings.map((encoding, index) => ({
    encoding,
    bodies: bodiesOf(options, seed + index, encoding),
  }));
  const loads: Partial<Record<Encoding, Load>> = {};
  try {
    for (const { encoding, bodies } of prepared) {
      const target = { clients: CLIENTS, path: '/v1/traces', contentType: CONTENT_TYPES[encoding] };
      const load = await loadServer(server, encoding, bodies, target, settled);
      loads[encoding] = { ...load, bytes: bodies.bytes };
    }
    return loads as Loads;
  } finally {
    await server.stop();
  }
}

function tracesOf({ requests }: Options): number {
  return Math.ceil((requests * REQUEST_SPANS) / SPANS_PER_TRACE);
}

/** Spans in the order of their traces, so that a trace may go on in the next request, as with real exporters. */
function bodiesOf(options: Options, seed: number, encoding: Encoding): Bodies {
  const spans = generateSpans(seed, 0, tracesOf(options));
  return new Bodies(
    Array.from({ length: options.requests }, (_none, request) =>
      otlpRequest(spans.slice(request * REQUEST_SPANS, (request + 1) * REQUEST_SPANS), encoding),
    ),
  );
}

function tableOf({ requests }: Options, runs: readonly Run[]) {
  const spans = requests * REQUEST_SPANS;
  const of = (value: (run: Run) => number) => median(runs.map(value));
  const rate = (ms: (run: Run) => number) => figure(of((run) => (spans / ms(run)) * 1000));
  const perSpan = (ms: (run: Run) => number) => figure((of(ms) / spans) * 1000);
  const rows: (string | number)[][] = [
    ['bare engine, RowBinary, spans/s', rate((run) => run.bare.elapsed), ''],
    ['  processor time per span, µs', perSpan((run) => run.bare.cpu), ''],
  ];
  for (const encoding of ['protobuf', 'JSON'] as const) {
    const load = (run: Run) => run.loads[encoding];
    const ratio = of((run) => run.bare.elapsed / load(run).ms);
    const latencies = runs.flatMap((run) => load(run).latencies);
    const plain = of((run) => run.plain[encoding].ms / load(run).ms);
    rows.push(
      [`plain server, ${encoding}, spans/s`, rate((run) => run.plain[encoding].ms), ''],
      [`server, ${encoding}, spans/s`, rate((run) => load(run).ms), ''],
      ['  ratio to the plain server', figure(plain), against(plain, '≥', TARGET)],
      ['  ratio to the bare engine', figure(ratio), ''],
      [
        '  p50 / p95 / p99 of a request, ms',
        [50, 95, 99].map((share) => figure(percentile(latencies, share))).join(' / '),
        '',
      ],
      [
        '  processor time per span, µs: server / engine',
        `${perSpan((run) => load(run).cpu.server)} / ${perSpan((run) => load(run).cpu.engine)}`,
        '',
      ],
      ['  bytes per span, as sent', figure(of((run) => load(run).bytes) / spans), ''],
    );
  }
  return { columns: ['measured', 'figure', 'target'], rows };
}
