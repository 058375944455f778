import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS, requestBodies, SINGLE_CLIENTS, singleBodies } from './bodies.js';
import { generateTrace, SPANS_PER_TRACE } from './data.js';
import { figure, megabytes, percentile, printTable } from './figures.js';
import { wholeNumber } from './options.js';
import { Bodies, sendLoad } from './processes/load.js';
import { startServerProcess, type ServerProcess } from './processes/server.js';
import { startSteadyLoad, type SteadyLoad } from './processes/steady.js';
import { startProgress } from '../scripts/progress.js';
import { captureContext, writeResults } from './results.js';
import { failuresOf, timeCalls, timesOf, type Outcome, type TimedCall } from './timed-calls.js';

const OTHER_PROJECT_ID = '0197f3a0-0000-7000-8000-00000000be9e';
const OTHER_KEY = 'sk_sh_key_of_another_bench_project';
/** Of the load that does not take all it can get. */
const PACED_SPANS_PER_SECOND = 2_000;
const PACED_SPANS_PER_REQUEST = 20;
/** Requests and spans that the loads send again and again, each time with other ids. */
const POOL = { requests: 300, singles: 6_000, small: 3_000 };
const WARM_UP_MS = 3_000;
const REST_MS = 2_000;

interface Options {
  readonly seconds: number;
  readonly spans: number;
  readonly burst: number;
  readonly only?: string;
  readonly seed: number;
  readonly checkout?: string;
  readonly node?: string;
  readonly write: boolean;
}

/** What is written while one client reads. */
interface Load {
  readonly name: string;
  /** Spans of each request. */
  readonly spans: number;
  readonly start: (server: ServerProcess) => SteadyLoad | null;
}

interface Measured {
  readonly name: string;
  readonly calls: readonly Outcome[];
  /** Spans a second; null without a load. */
  readonly rate: number | null;
  /** Processor time of a second, in seconds. */
  readonly processor: { readonly server: number; readonly engine: number };
}

/** `mixed`: how fast one client's reads are while others write. */
export function register(program: Command): void {
  program
    .command('mixed')
    .description('time the reads of one client while others write, to the same project and to another, against quiet')
    .option('--seconds <n>', 'how long each load is looked at', wholeNumber(1, 600), 20)
    .option('--spans <n>', 'spans that each project has before', wholeNumber(REQUEST_SPANS, 10_000_000), 120_000)
    .option(
      '--burst <n>',
      'traces of one span that are written at once before one read',
      wholeNumber(1, 1_000_000),
      50_000,
    )
    .option('--only <text>', 'only loads with this text in their names, and none')
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--checkout <dir>', 'measure the server of this other checkout, compiled')
    .option('--node <file>', 'the node that runs the server, where that checkout needs another')
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

async function bench(options: Options): Promise<void> {
  const context = captureContext(options);
  const dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-bench-mixed-'));
  try {
    const server = await startWithTwoProjects(options, dataDir);
    try {
      const measured = await measure(server, options);
      const after = await firstReads(server, options);
      const { server: own, engine } = server.peakMemory();
      const memory = `Peak memory: server ${megabytes(own)}, engine ${megabytes(engine)}.`;
      const table = { columns: COLUMNS, rows: rowsOf(measured) };
      printTable(table.columns, table.rows);
      process.stdout.write(`\n${after}\n${memory}\n`);
      if (!options.write) return;
      const of = options.checkout === undefined ? '' : ` at commit ${context.commit}`;
      writeResults({
        name: `Reads beside writes${of}`,
        command: commandOf(options),
        context,
        engine: 'embedded',
        about: `${aboutOf(options)} ${after} ${memory}`,
        ...table,
      });
    } finally {
      await server.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** A start makes sure of one project; the other one is that of the start before. */
async function startWithTwoProjects({ checkout, node }: Options, dataDir: string): Promise<ServerProcess> {
  const program = { dataDir, ...(checkout === undefined ? {} : { checkout }), ...(node === undefined ? {} : { node }) };
  const env = { SPANHOUSE_INIT_PROJECT_ID: OTHER_PROJECT_ID, SPANHOUSE_INIT_API_KEY: OTHER_KEY };
  await (await startServerProcess({ ...program, env })).stop();
  return startServerProcess(program);
}

async function measure(server: ServerProcess, options: Options): Promise<Measured[]> {
  const { seed, spans, seconds } = options;
  await fill(server, 'spans of the project', server.key, requestBodies(seed, spans));
  await fill(server, 'spans of the other project', OTHER_KEY, requestBodies(seed + 1, spans));
  const calls = readsOf(options);
  const { only } = options;
  const loads = loadsOf(options).filter(({ name, spans: each }) => each === 0 || name.includes(only ?? ''));
  const measured: Measured[] = [];
  const progress = startProgress('mixed', loads.length * seconds, 's');
  try {
    for (const load of loads) {
      await server.settled();
      await sleep(Math.min(REST_MS, seconds * 100));
      const before = measured.length * seconds;
      measured.push(
        await measureUnder(load, server, calls, seconds, (done) => {
          progress.update(before + Math.min(seconds, Math.round(done)));
        }),
      );
    }
    return measured;
  } finally {
    progress.stop();
  }
}

function readsOf({ seed, spans }: Options): TimedCall[] {
  const traces = Math.min(500, Math.floor(spans / SPANS_PER_TRACE));
  const ids = Array.from({ length: traces }, (_none, number) => generateTrace(seed, number)[0]?.trace_id ?? '');
  const idOf = (round: number) => ids[round % ids.length] ?? '';
  return [
    { name: 'traces, newest 50', request: () => ({ path: '/traces?limit=50' }) },
    { name: 'a trace by id', request: (round) => ({ path: `/traces?id=${idOf(round)}` }) },
    { name: 'spans of a trace', request: (round) => ({ path: `/spans?trace_id=${idOf(round)}` }) },
    { name: 'spans, newest 50', request: () => ({ path: '/spans?limit=50' }) },
    { name: 'sessions, newest 50', request: () => ({ path: '/sessions?limit=50' }) },
    {
      name: 'traces with errors by cost',
      request: () => ({ path: '/traces?has_error=true&sort_by=cost&limit=50&fields=id,name,cost' }),
    },
  ];
}

function loadsOf({ seed }: Options): Load[] {
  const requests = requestBodies(seed + 2, POOL.requests * REQUEST_SPANS);
  const singles = singleBodies(seed + 3, POOL.singles);
  const small = bodiesOf(seed + 4, 12);
  const paced = bodiesOf(seed + 5, PACED_SPANS_PER_REQUEST);
  const by = ({ url }: ServerProcess, key: string, clients: number) => ({ url, key, clients, refusable: true });
  const perSecond = PACED_SPANS_PER_SECOND / PACED_SPANS_PER_REQUEST;
  const flood = (key: (server: ServerProcess) => string) => (server: ServerProcess) =>
    startSteadyLoad(requests, by(server, key(server), REQUEST_CLIENTS));
  const flakes = (key: (server: ServerProcess) => string) => (server: ServerProcess) =>
    startSteadyLoad(singles, by(server, key(server), SINGLE_CLIENTS));
  const same = (server: ServerProcess) => server.key;
  const other = () => OTHER_KEY;
  return [
    { name: 'nobody', spans: 0, start: () => null },
    {
      name: 'one client, 12 spans at a time',
      spans: 12,
      start: (server) => startSteadyLoad(small, by(server, server.key, 1)),
    },
    {
      name: `${PACED_SPANS_PER_SECOND.toLocaleString('en')} spans/s, ${PACED_SPANS_PER_REQUEST} at a time`,
      spans: PACED_SPANS_PER_REQUEST,
      start: (server) => startSteadyLoad(paced, { ...by(server, server.key, 8), perSecond }),
    },
    { name: `flood, same project`, spans: REQUEST_SPANS, start: flood(same) },
    { name: `flood, another project`, spans: REQUEST_SPANS, start: flood(other) },
    { name: `one-span flood, same project`, spans: 1, start: flakes(same) },
    { name: `one-span flood, another project`, spans: 1, start: flakes(other) },
    { name: 'nobody again', spans: 0, start: () => null },
  ];
}

/** Requests of so many spans, of whole traces one after another. */
function bodiesOf(seed: number, spans: number): Bodies {
  const all = Array.from({ length: POOL.small }, (_none, number) => generateTrace(seed, number)).flat();
  return new Bodies(
    Array.from({ length: Math.floor(all.length / spans) }, (_none, request) =>
      Buffer.from(JSON.stringify(all.slice(request * spans, (request + 1) * spans))),
    ),
  );
}

async function measureUnder(
  { name, spans, start }: Load,
  server: ServerProcess,
  calls: readonly TimedCall[],
  seconds: number,
  onProgress: (seconds: number) => void,
): Promise<Measured> {
  const load = start(server);
  try {
    await sleep(Math.min(WARM_UP_MS, seconds * 250));
    const [from, cpuFrom, started] = [await load?.count(), server.cpuMs(), performance.now()];
    const outcomes = await timeCalls({ url: server.url, key: server.key }, calls, seconds, onProgress);
    const [to, cpuTo, ms] = [await load?.count(), server.cpuMs(), performance.now() - started];
    const processor = { server: (cpuTo.server - cpuFrom.server) / ms, engine: (cpuTo.engine - cpuFrom.engine) / ms };
    if (from === undefined || to === undefined) return { name, calls: outcomes, rate: null, processor };
    const rate = ((to.answered - from.answered) * spans * 1000) / (to.at - from.at);
    return { name, calls: outcomes, rate, processor };
  } finally {
    await load?.stop();
  }
}

/** The first read after a burst of traces, and after a single write, in words. */
async function firstReads(server: ServerProcess, { seed, burst }: Options): Promise<string> {
  const bodies = singleBodies(seed + 7, POOL.small);
  const caller = { url: server.url, key: server.key };
  const read: TimedCall = { name: 'traces, newest 50', request: () => ({ path: '/traces?limit=50' }) };
  const once = async () => (await timeCalls(caller, [read], 0, () => undefined))[0]?.latencies[0] ?? NaN;
  const afterOne: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    await server.settled();
    await timeCalls(
      caller,
      [{ name: 'write', request: () => ({ path: '/spans', body: bodies.at(round) }) }],
      0,
      () => undefined,
    );
    afterOne.push(await once());
  }
  await server.settled();
  await fill(server, 'burst', server.key, burstOf(seed + 8, burst));
  const afterBurst = await once();
  return (
    `First read of the newest 50 traces after one write: ${figure(percentile(afterOne, 50))} ms (median of 20); ` +
    `after ${burst.toLocaleString('en')} traces of one span each: ${figure(afterBurst)} ms.`
  );
}

/** Traces of one span, a thousand a request. */
function burstOf(seed: number, traces: number): Bodies {
  const roots = Array.from({ length: traces }, (_none, number) => ({
    ...generateTrace(seed, number % POOL.small)[0],
    id: undefined,
    trace_id: `0197f3a0-0000-7000-9000-${number.toString(16).padStart(12, '0')}`,
  }));
  return new Bodies(
    Array.from({ length: Math.ceil(traces / 1000) }, (_none, request) =>
      Buffer.from(JSON.stringify(roots.slice(request * 1000, (request + 1) * 1000))),
    ),
  );
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

const COLUMNS = [
  'who writes',
  'read',
  'p50 / p95, ms',
  'ratio to nobody: p50 / p95',
  'calls',
  'failed',
  'spans/s written',
  'processor, server / engine',
];

function rowsOf(measured: readonly Measured[]): string[][] {
  const quiet = measured[0];
  return measured.flatMap(({ name, calls, rate, processor }) =>
    calls.map((call, at) => [
      name,
      call.name,
      ...timesOf(call, quiet?.calls[at], [50, 95]),
      String(call.latencies.length + call.failures.length),
      failuresOf(call),
      rate === null ? '' : figure(rate),
      `${figure(processor.server)} / ${figure(processor.engine)}`,
    ]),
  );
}

function aboutOf({ seconds, spans }: Options): string {
  return (
    `Two projects of ${spans} spans each on one server with default settings. One client of the first project makes the reads in turn over one connection, with a ` +
    `short pause after each, while the first column writes without a pause from a thread outside the server's process, ${seconds} s each. A flood is ` +
    `${REQUEST_SPANS} spans at a time by ${REQUEST_CLIENTS} clients, a one-span flood is by ${SINGLE_CLIENTS}. Processor time is in cores.`
  );
}

function commandOf({ seconds, spans, burst, only, checkout, node }: Options): string {
  const other = [
    only === undefined ? '' : ` --only "${only}"`,
    checkout === undefined ? '' : ` --checkout ${checkout}`,
    node === undefined ? '' : ` --node ${node}`,
  ];
  return `npm run bench -- mixed --seconds ${seconds} --spans ${spans} --burst ${burst}${other.join('')}`;
}
