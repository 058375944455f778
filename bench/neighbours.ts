import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS, requestBodies, SINGLE_CLIENTS, singleBodies } from './bodies.js';
import { generateTrace } from './data.js';
import { figure } from './figures.js';
import { wholeNumber } from './options.js';
import { Bodies } from './processes/load.js';
import type { ServerProcess } from './processes/server.js';
import { startSteadyLoad, startSteadyReads } from './processes/steady.js';
import { failuresOf, timesOf, type TimedCall } from './timed-calls.js';
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

const PAGE = 10_000;
const SLOW_CONNECTIONS = 40;
/** Rate of each connection that reads slowly: so low that no answer ends while the bench measures. */
const SLOW_BYTES_PER_SECOND = 256 * 1024;
const LARGE_TRACE_ID = '0197f3a0-0000-7000-8000-0000000b16be';
const LARGE_SPANS_PER_REQUEST = 5;
/** Requests and spans that the floods send again and again. */
const POOL = { requests: 300, singles: 6_000, neighbour: 3_000 };
interface Options extends BenchOptions {
  readonly spans: number;
  readonly answerMb: number;
  readonly seed: number;
}

/** `neighbours`: what a project notices of another that takes all it can get of the same server. */
export function register(program: Command): void {
  program
    .command('neighbours')
    .description('time single writes and reads of one project while another floods the server, against an idle server')
    .option('--seconds <n>', 'how long each load is measured', wholeNumber(1, 600), 20)
    .option('--spans <n>', 'spans stored in each project beforehand', wholeNumber(REQUEST_SPANS, 1_000_000), 24_000)
    .option('--answer-mb <n>', 'size of the answers that are read slowly', wholeNumber(1, 200), 50)
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--checkout <dir>', 'measure the server of this other checkout, compiled')
    .option('--node <file>', 'the Node.js executable that runs the server, when --checkout needs another')
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

function bench(options: Options): Promise<void> {
  const { seed, spans, answerMb, seconds } = options;
  const kept = { name: 'Neighbours', command: commandOf(options), about: aboutOf(options) };
  return benchTwoProjects(options, kept, async (server) => {
    await fill(server, 'spans of the neighbour', OTHER_KEY, requestBodies(seed + 1, spans));
    await fill(server, 'spans of the first project', server.key, requestBodies(seed, spans));
    await fill(server, 'long spans', server.key, largeBodies(seed, answerMb));
    const neighbour = { url: server.url, key: OTHER_KEY };
    const calls = neighbourCalls(options);
    const measured = await timeUnderEach(server, neighbour, calls, loadsOf(options), { label: 'neighbours', seconds });
    return { columns: COLUMNS, rows: rowsOf(measured), notes: [] };
  });
}

function neighbourCalls({ seed, spans }: Options): TimedCall[] {
  const ids = traceIdsOf(seed + 1, spans);
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

/** Loads of the first project, beside which calls of the other one are measured. */
function loadsOf({ seed, answerMb }: Options): Load[] {
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

const COLUMNS = [
  'the first project',
  'the neighbour',
  'p50 / p95 / max, ms',
  'ratio to quiet: p50 / p95 / max',
  'calls',
  'failed',
  'the first project: requests/s answered, refused, MB/s read',
];

function rowsOf(measured: readonly UnderLoad[]): string[][] {
  const quiet = measured[0];
  return measured.flatMap(({ name, calls, load }) =>
    calls.map((call, at) => [
      name,
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

function commandOf({ seconds, spans, answerMb }: Options): string {
  return `npm run bench -- neighbours --seconds ${seconds} --spans ${spans} --answer-mb ${answerMb}`;
}
