import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS, requestBodies, SINGLE_CLIENTS, singleBodies } from './bodies.js';
import { generateTrace } from './data.js';
import { figure, percentile } from './figures.js';
import { wholeNumber } from './options.js';
import { Bodies } from './processes/load.js';
import type { ServerProcess } from './processes/server.js';
import { startSteadyLoad } from './processes/steady.js';
import { failuresOf, timeCalls, timesOf, type TimedCall } from './timed-calls.js';
import {
  benchTwoProjects,
  fill,
  OTHER_KEY,
  timeUnderEach,
  traceIdsOf,
  type BenchOptions,
  type Load,
  type UnderLoad,
} from './two-projects.js';

/** Of the load that does not take all it can get. */
const PACED_SPANS_PER_SECOND = 2_000;
const PACED_SPANS_PER_REQUEST = 20;
/** Requests and spans that the loads send again and again, each time with other ids. */
const POOL = { requests: 300, singles: 6_000, small: 3_000 };
interface Options extends BenchOptions {
  readonly spans: number;
  readonly burst: number;
  readonly only?: string;
  readonly seed: number;
}

/** What is written while one client reads. */
interface Writes extends Load {
  /** Spans of each request. */
  readonly spans: number;
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

function bench(options: Options): Promise<void> {
  const { seed, spans, seconds, only = '' } = options;
  const kept = { name: 'Reads beside writes', command: commandOf(options), about: aboutOf(options) };
  return benchTwoProjects(options, kept, async (server) => {
    await fill(server, 'spans of the project', server.key, requestBodies(seed, spans));
    await fill(server, 'spans of the other project', OTHER_KEY, requestBodies(seed + 1, spans));
    const loads = writesOf(options).filter((writes) => writes.spans === 0 || writes.name.includes(only));
    const measured = await timeUnderEach(server, server, readsOf(options), loads, { label: 'mixed', seconds });
    return { columns: COLUMNS, rows: rowsOf(measured, loads), notes: [await firstReads(server, options)] };
  });
}

function readsOf({ seed, spans }: Options): TimedCall[] {
  const ids = traceIdsOf(seed, spans);
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

function writesOf({ seed }: Options): Writes[] {
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

/** The first read after a burst of traces, and after a single write, in words. */
async function firstReads(server: ServerProcess, { seed, burst }: Options): Promise<string> {
  const bodies = singleBodies(seed + 7, POOL.small);
  const read: TimedCall = { name: 'traces, newest 50', request: () => ({ path: '/traces?limit=50' }) };
  const once = async () => (await timeCalls(server, [read], 0, () => undefined))[0]?.latencies[0] ?? NaN;
  const afterOne: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    await server.settled();
    await timeCalls(
      server,
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

function rowsOf(measured: readonly UnderLoad[], writes: readonly Writes[]): string[][] {
  const quiet = measured[0];
  return measured.flatMap(({ name, calls, load, processor }, which) =>
    calls.map((call, at) => [
      name,
      call.name,
      ...timesOf(call, quiet?.calls[at], [50, 95]),
      String(call.latencies.length + call.failures.length),
      failuresOf(call),
      load === null ? '' : figure(load.answered * (writes[which]?.spans ?? NaN)),
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

function commandOf({ seconds, spans, burst, only }: Options): string {
  const chosen = only === undefined ? '' : ` --only "${only}"`;
  return `npm run bench -- mixed --seconds ${seconds} --spans ${spans} --burst ${burst}${chosen}`;
}
