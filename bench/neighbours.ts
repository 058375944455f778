import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS, requestBodies, SINGLE_CLIENTS, singleBodies } from './bodies.js';
import { generateTrace, SPANS_PER_TRACE } from './data.js';
import { figure, megabytes, printTable } from './figures.js';
import { wholeNumber } from './options.js';
import { Bodies, sendLoad } from './processes/load.js';
import { startServerProcess, type ServerProcess } from './processes/server.js';
import { startSteadyLoad, startSteadyReads, type SteadyLoad } from './processes/steady.js';
import { startProgress } from '../scripts/progress.js';
import { captureContext, writeResults } from './results.js';
import { failuresOf, timeCalls, timesOf, type Outcome, type TimedCall } from './timed-calls.js';

const NEIGHBOUR_PROJECT_ID = '0197f3a0-0000-7000-8000-00000000be9d';
const NEIGHBOUR_KEY = 'sk_sh_key_of_the_bench_neighbour';
const PAGE = 10_000;
const SLOW_CONNECTIONS = 40;
/** Of each connection that reads slowly, so that no answer of the size asked for ends while the bench looks. */
const SLOW_BYTES_PER_SECOND = 256 * 1024;
const LARGE_TRACE_ID = '0197f3a0-0000-7000-8000-0000000b16be';
const LARGE_SPANS_PER_REQUEST = 5;
/** Requests and spans that the floods send again and again. */
const POOL = { requests: 300, singles: 6_000, neighbour: 3_000 };
const WARM_UP_MS = 3_000;
/** What a load leaves behind besides rollups has this long, before the next begins. */
const REST_MS = 2_000;

interface Options {
  readonly seconds: number;
  readonly spans: number;
  readonly answerMb: number;
  readonly seed: number;
  readonly checkout?: string;
  readonly node?: string;
  readonly write: boolean;
}

/** What the first project does meanwhile. */
interface Scenario {
  readonly name: string;
  readonly start: (server: ServerProcess) => SteadyLoad | null;
}

interface Measured {
  readonly scenario: string;
  readonly calls: readonly Outcome[];
  /** Of the first project: requests a second answered and refused, bytes read a second. Null without a load. */
  readonly load: { readonly answered: number; readonly refused: number; readonly bytesRead: number } | null;
}

/** `neighbours`: what a project notices of another that takes all it can get of the same server. */
export function register(program: Command): void {
  program
    .command('neighbours')
    .description('time single writes and reads of one project while another floods the same server, against quiet')
    .option('--seconds <n>', 'how long each load is looked at', wholeNumber(1, 600), 20)
    .option('--spans <n>', 'spans that each project has before', wholeNumber(REQUEST_SPANS, 1_000_000), 24_000)
    .option('--answer-mb <n>', 'size of the answers that are read slowly', wholeNumber(1, 200), 50)
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--checkout <dir>', 'measure the server of this other checkout, compiled')
    .option('--node <file>', 'the node that runs the server, where that checkout needs another')
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

async function bench(options: Options): Promise<void> {
  const context = captureContext(options);
  const dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-bench-neighbours-'));
  try {
    const server = await startWithTwoProjects(options, dataDir);
    try {
      const measured = await measure(server, options);
      const { server: own, engine } = server.peakMemory();
      const memory = `Peak memory: server ${megabytes(own)}, engine ${megabytes(engine)}.`;
      const table = { columns: COLUMNS, rows: rowsOf(measured) };
      printTable(table.columns, table.rows);
      process.stdout.write(`\n${memory}\n`);
      if (!options.write) return;
      const of = options.checkout === undefined ? '' : ` at commit ${context.commit}`;
      const about = `${aboutOf(options)} ${memory}`;
      writeResults({
        name: `Neighbours${of}`,
        command: commandOf(options),
        context,
        engine: 'embedded',
        about,
        ...table,
      });
    } finally {
      await server.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** A start makes sure of one project; the neighbour's is the one of the start before. */
async function startWithTwoProjects({ checkout, node }: Options, dataDir: string): Promise<ServerProcess> {
  const program = { dataDir, ...(checkout === undefined ? {} : { checkout }), ...(node === undefined ? {} : { node }) };
  const env = { SPANHOUSE_INIT_PROJECT_ID: NEIGHBOUR_PROJECT_ID, SPANHOUSE_INIT_API_KEY: NEIGHBOUR_KEY };
  await (await startServerProcess({ ...program, env })).stop();
  return startServerProcess(program);
}

async function measure(server: ServerProcess, options: Options): Promise<Measured[]> {
  const { seed, spans, answerMb, seconds } = options;
  await fill(server, 'spans of the neighbour', NEIGHBOUR_KEY, requestBodies(seed + 1, spans));
  await fill(server, 'spans of the first project', server.key, requestBodies(seed, spans));
  await fill(server, 'long spans', server.key, largeBodies(seed, answerMb));
  const calls = neighbourCalls(options);
  const scenarios = scenariosOf(options);
  const measured: Measured[] = [];
  const progress = startProgress('neighbours', scenarios.length * seconds, 's');
  try {
    for (const scenario of scenarios) {
      await rested(server, measured.at(-1)?.scenario ?? 'filling in', Math.min(REST_MS, seconds * 100));
      const before = measured.length * seconds;
      measured.push(
        await measureUnder(scenario, server, calls, seconds, (done) => {
          progress.update(before + Math.min(seconds, Math.round(done)));
        }),
      );
      progress.update(before + seconds);
    }
    return measured;
  } finally {
    progress.stop();
  }
}

function neighbourCalls({ seed, spans }: Options): TimedCall[] {
  const traces = Math.min(500, Math.floor(spans / SPANS_PER_TRACE));
  const ids = Array.from({ length: traces }, (_none, number) => generateTrace(seed + 1, number)[0]?.trace_id ?? '');
  // Each is sent once, until there are no more and they begin anew.
  const writes = singleBodies(seed + 4, POOL.neighbour);
  return [
    {
      name: 'write of one span',
      request: (round) => ({ path: '/spans', body: writes.at(round % writes.ends.length) }),
    },
    { name: 'spans of a trace', request: (round) => ({ path: `/spans?trace_id=${ids[round % ids.length] ?? ''}` }) },
    { name: 'newest 50 traces', request: () => ({ path: '/traces?limit=50' }) },
  ];
}

function scenariosOf({ seed, answerMb }: Options): Scenario[] {
  const requests = requestBodies(seed + 2, POOL.requests * REQUEST_SPANS);
  const singles = singleBodies(seed + 3, POOL.singles);
  const pages = [`/spans?limit=${PAGE}`, `/spans?limit=${PAGE}&offset=${PAGE}`];
  const large = [`/spans?trace_id=${LARGE_TRACE_ID}&limit=${PAGE}`];
  const as = ({ url, key }: ServerProcess, clients: number) => ({ url, key, clients, refusable: true });
  return [
    { name: 'quiet', start: () => null },
    {
      name: `${REQUEST_SPANS}-span writes by ${REQUEST_CLIENTS} clients`,
      start: (server) => startSteadyLoad(requests, as(server, REQUEST_CLIENTS)),
    },
    {
      name: `pages of ${PAGE.toLocaleString('en')} spans for ${REQUEST_CLIENTS} clients`,
      start: (server) => startSteadyReads({ paths: pages }, as(server, REQUEST_CLIENTS)),
    },
    {
      name: `answers of ${answerMb} MB, read slowly, over ${SLOW_CONNECTIONS} connections`,
      start: (server) =>
        startSteadyReads({ paths: large, bytesPerSecond: SLOW_BYTES_PER_SECOND }, as(server, SLOW_CONNECTIONS)),
    },
    {
      name: `one-span writes by ${SINGLE_CLIENTS} clients`,
      start: (server) => startSteadyLoad(singles, as(server, SINGLE_CLIENTS)),
    },
    { name: 'quiet again', start: () => null },
  ];
}

async function measureUnder(
  { name, start }: Scenario,
  server: ServerProcess,
  timed: readonly TimedCall[],
  seconds: number,
  onProgress: (seconds: number) => void,
): Promise<Measured> {
  const load = start(server);
  try {
    await sleep(Math.min(WARM_UP_MS, seconds * 250));
    const from = await load?.count();
    const calls = await timeCalls({ url: server.url, key: NEIGHBOUR_KEY }, timed, seconds, onProgress);
    const to = await load?.count();
    if (from === undefined || to === undefined) return { scenario: name, calls, load: null };
    const rate = (value: 'answered' | 'refused' | 'bytesRead') =>
      ((to[value] - from[value]) / (to.at - from.at)) * 1000;
    return {
      scenario: name,
      calls,
      load: { answered: rate('answered'), refused: rate('refused'), bytesRead: rate('bytesRead') },
    };
  } finally {
    await load?.stop();
  }
}

async function fill({ url }: ServerProcess, label: string, key: string, bodies: Bodies): Promise<void> {
  const progress = startProgress(label, bodies.ends.length, 'requests');
  try {
    await sendLoad(bodies, { url, key, clients: 2 }, (done) => {
      progress.update(done);
    });
    progress.update(bodies.ends.length);
  } finally {
    progress.stop();
  }
}

/** Spans of about a megabyte each, all of one trace. */
function largeBodies(seed: number, megabytesInAll: number): Bodies {
  const text = JSON.stringify(Array.from({ length: 40 }, (_none, number) => generateTrace(seed + 5, number)));
  const spans = Array.from({ length: megabytesInAll }, (_none, number) => ({
    ...generateTrace(seed + 6, number)[0],
    trace_id: LARGE_TRACE_ID,
    parent_span_id: null,
    output_data: text.slice(number).repeat(2).slice(0, 850_000),
  }));
  const requests = Math.ceil(spans.length / LARGE_SPANS_PER_REQUEST);
  return new Bodies(
    Array.from({ length: requests }, (_none, request) => {
      const first = request * LARGE_SPANS_PER_REQUEST;
      return Buffer.from(JSON.stringify(spans.slice(first, first + LARGE_SPANS_PER_REQUEST)));
    }),
  );
}

/** @throws Error when the server is gone */
async function rested(server: ServerProcess, after: string, ms: number): Promise<void> {
  try {
    await server.settled();
  } catch (cause) {
    throw new Error(`the server does not answer any more, after: ${after}`, { cause });
  }
  await sleep(ms);
}

const COLUMNS = [
  'the first project',
  'the neighbour',
  'p50 / p95 / max, ms',
  'ratio to quiet: p50 / p95 / max',
  'calls',
  'failed',
  'the first project: requests/s answered, refused, MB/s read',
];

function rowsOf(measured: readonly Measured[]): string[][] {
  const quiet = measured[0];
  return measured.flatMap(({ scenario, calls, load }) =>
    calls.map((call, at) => [
      scenario,
      call.name,
      ...timesOf(call, quiet?.calls[at], [50, 95, 100]),
      String(call.latencies.length + call.failures.length),
      failuresOf(call),
      load === null
        ? ''
        : [load.answered, load.refused, load.bytesRead / 2 ** 20].map((value) => figure(value)).join(', '),
    ]),
  );
}

function aboutOf({ seconds, spans, answerMb }: Options): string {
  return (
    `Two projects of ${spans} spans each on one server with default settings. The neighbour has one connection and one call under way at a time, with a short ` +
    `pause after each: a write of one span, the spans of a trace, and the newest 50 traces, in turn. The first project meanwhile does, without a pause and ` +
    `from a thread outside the server's process, what the first column says, ${seconds} s each; it asks again at once when it is refused. Slowly is ` +
    `${SLOW_BYTES_PER_SECOND / 1024} KB a second of an answer of ${answerMb} MB. Times are of calls answered 200, to the last byte; others have failed.`
  );
}

function commandOf({ seconds, spans, answerMb, checkout, node }: Options): string {
  const other = [checkout === undefined ? '' : ` --checkout ${checkout}`, node === undefined ? '' : ` --node ${node}`];
  return `npm run bench -- neighbours --seconds ${seconds} --spans ${spans} --answer-mb ${answerMb}${other.join('')}`;
}
