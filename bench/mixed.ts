import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS, requestBodies, SINGLE_CLIENTS } from './bodies.js';
import { figure } from './figures.js';
import { timeFirstReads, type FirstReads } from './first-reads.js';
import { BOUND_COLUMNS, boundRows, BOUNDS, standings, verdict, type Beside, type Read } from './mixed-bounds.js';
import { mixedWrites, type Writes } from './mixed-loads.js';
import { wholeNumber } from './options.js';
import { failuresOf, timesOf } from './timed-calls.js';
import {
  benchTwoProjects,
  fill,
  OTHER_KEY,
  timeUnderEach,
  traceIdsOf,
  type BenchOptions,
  type UnderLoad,
} from './two-projects.js';

interface Options extends BenchOptions {
  readonly spans: number;
  readonly burst: number;
  readonly rounds: number;
  readonly readers: number;
  readonly pause: number;
  readonly only?: string;
  readonly seed: number;
}

/** `mixed`: how fast reads are while others write. */
export function register(program: Command): void {
  program
    .command('mixed')
    .description('time reads while others write, to the same project and to another, against reads on an idle server')
    .option('--seconds <n>', 'how long each load is measured', wholeNumber(1, 600), 15)
    .option('--spans <n>', 'spans stored in each project beforehand', wholeNumber(REQUEST_SPANS, 10_000_000), 120_000)
    .option(
      '--burst <n>',
      'traces of one span that are written at once before one read',
      wholeNumber(1, 1_000_000),
      300_000,
    )
    .option('--rounds <n>', 'first reads after one write that are timed', wholeNumber(1, 1_000), 30)
    .option('--readers <n>', 'clients that read at once', wholeNumber(1, 100), 4)
    .option('--pause <ms>', 'pause of each reader after a read', wholeNumber(1, 10_000), 100)
    .option('--only <text>', 'only loads with this text in their names, and the idle server')
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--checkout <dir>', 'measure the server of this other checkout, compiled')
    .option('--node <file>', 'the Node.js executable that runs the server, when --checkout needs another')
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

function bench(options: Options): Promise<void> {
  const { seed, spans, seconds, readers, pause, only = '' } = options;
  const kept = { name: 'Reads beside writes', command: commandOf(options), about: aboutOf(options) };
  return benchTwoProjects(options, kept, async (server) => {
    await fill(server, 'spans of the project', server.key, requestBodies(seed, spans));
    await fill(server, 'spans of the other project', OTHER_KEY, requestBodies(seed + 1, spans));
    const loads = mixedWrites(seed).filter((writes) => writes.spans === 0 || writes.name.includes(only));
    const reads = readsOf(options);
    const timing = { label: 'mixed', seconds, clients: readers, pauseMs: pause };
    const measured = (await timeUnderEach(server, server, reads, loads, timing)).map(besideOf(loads));
    const first = await timeFirstReads(server, { ...options, seed: seed + 7 });
    const summary = {
      name: 'bounds',
      about: 'How the figures of the section above stand to what is promised, and which share of the bound they are.',
      columns: BOUND_COLUMNS,
      rows: boundRows(measured, reads, first),
    };
    return { columns: COLUMNS, rows: rowsOf(measured, reads), notes: [noteOf(first, options)], summary };
  });
}

function readsOf({ seed, spans }: Options): Read[] {
  const ids = traceIdsOf(seed, spans);
  const idOf = (round: number) => ids[round % ids.length] ?? '';
  const errorsByCost = 'has_error=true&sort_by=cost&limit=50&fields=id,name,cost';
  return [
    { name: 'traces, newest 50', heavy: false, request: () => ({ path: '/traces?limit=50' }) },
    { name: 'a trace by id', heavy: false, request: (round) => ({ path: `/traces?id=${idOf(round)}` }) },
    { name: 'spans of a trace', heavy: false, request: (round) => ({ path: `/spans?trace_id=${idOf(round)}` }) },
    { name: 'spans, newest 50', heavy: false, request: () => ({ path: '/spans?limit=50' }) },
    { name: 'sessions, newest 50', heavy: true, request: () => ({ path: '/sessions?limit=50' }) },
    { name: 'traces with errors by cost', heavy: true, request: () => ({ path: `/traces?${errorsByCost}` }) },
    { name: 'spans with errors by cost', heavy: true, request: () => ({ path: `/spans?${errorsByCost}` }) },
  ];
}

/** Measurements beside one kind of writers, with the processor time they took. */
type Measured = Beside & Pick<UnderLoad, 'processor' | 'ms'>;

function besideOf(writes: readonly Writes[]) {
  return ({ name, calls, load, processor, ms }: UnderLoad, at: number): Measured => {
    const rate = load === null ? NaN : load.answered * (writes[at]?.spans ?? NaN);
    return { name, calls, rate, processor, ms };
  };
}

const COLUMNS = [
  'who writes',
  'read',
  'p50 / p95, ms',
  'ratio to nobody: p50 / p95',
  'bound of the p50',
  `p95 ≤ ${BOUNDS.p95} × p50`,
  'calls',
  'failed',
  'spans/s written',
  'processor, server / engine',
  'of it, for a span written or a read',
];

function rowsOf(measured: readonly Measured[], reads: readonly Read[]): string[][] {
  const quiet = measured[0];
  return measured.flatMap((beside) => {
    const { name, calls, rate } = beside;
    const of = standings(beside, quiet, reads);
    const load = [Number.isNaN(rate) ? '' : figure(rate), ...processorOf(beside)];
    if (calls.length === 0) return [[name, '', '', '', '', '', '', '', ...load]];
    return calls.map((call, at) => {
      const standing = of[at];
      return [
        name,
        call.name,
        ...timesOf(call, quiet?.calls[at], [50, 95]),
        ...(standing === undefined
          ? ['', '']
          : [verdict(standing.p50, '≤', standing.p50Bound), verdict(standing.p95, '≤', BOUNDS.p95)]),
        String(call.latencies.length + call.failures.length),
        failuresOf(call),
        ...load,
      ];
    });
  });
}

/** In cores, and what that comes to for each span written, or, with nobody writing, for each read. */
function processorOf({ calls, rate, processor, ms }: Measured): [string, string] {
  const both = (scale: number) => `${figure(processor.server * scale)} / ${figure(processor.engine * scale)}`;
  if (!Number.isNaN(rate)) return [both(1), `${both(1e6 / rate)} µs a span`];
  const made = calls.reduce((sum, { latencies, failures }) => sum + latencies.length + failures.length, 0);
  return [both(1), `${both(ms / made)} ms a read`];
}

function noteOf({ afterWrite, afterNothing, afterBurst }: FirstReads, { rounds, burst }: Options): string {
  return (
    `First read of the newest 50 traces after one write: ${figure(afterWrite)} ms, after nothing, in turn with these: ` +
    `${figure(afterNothing)} ms (medians of ${rounds}); ` +
    `after ${burst.toLocaleString('en')} traces of one span each: ${figure(afterBurst)} ms.`
  );
}

function aboutOf({ seconds, spans, readers, pause }: Options): string {
  const who = readers === 1 ? 'One client of the first project makes' : `${readers} clients of the first project make`;
  return (
    `Two projects of ${spans} spans each on one server with default settings. ${who} the reads in turn over one connection${readers === 1 ? '' : ' each'}, with ` +
    `${pause} ms of rest after each, while the first column writes without a pause from a thread outside the server's process, ${seconds} s each. A flood is ` +
    `${REQUEST_SPANS} spans at a time by ${REQUEST_CLIENTS} clients, a one-span flood is by ${SINGLE_CLIENTS}. What is sent again repeats any request before, ` +
    `to the byte. Bounds come with the share of them that is taken. Processor time is in cores; that of a span written includes the reads beside it, that of a ` +
    `read is a mean of all kinds.`
  );
}

function commandOf({ seconds, spans, burst, rounds, readers, pause, only }: Options): string {
  const chosen = only === undefined ? '' : ` --only "${only}"`;
  return `npm run bench -- mixed --seconds ${seconds} --spans ${spans} --burst ${burst} --rounds ${rounds} --readers ${readers} --pause ${pause}${chosen}`;
}
