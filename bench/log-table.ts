import { SINGLE_CLIENTS } from './bodies.js';
import { SPANS_PER_TRACE } from './data.js';
import { figure, median, percentile } from './figures.js';
import { BURST, STEADY, WARM_UP_REQUESTS, type ServerOptions, type ServerRun } from './log-server.js';
import type { LoadOutcome } from './processes/load.js';

/** Each figure is the median of those of the repetitions, a ratio of their ratios. */
export function serverTable(options: ServerOptions, runs: readonly ServerRun[]) {
  const of = (value: (run: ServerRun) => number) => figure(median(runs.map(value)));
  const alone = (measured: string, value: (run: ServerRun) => number) => [measured, of(value), '', ''];
  const beside = (measured: string, own: (run: ServerRun) => number, other: (run: ServerRun) => number) => [
    measured,
    of(own),
    of(other),
    of((run) => own(run) / other(run)),
  ];
  const perRequest = ({ cpu, latencies }: ServerRun['singles'], part: 'server' | 'engine') =>
    (cpu[part] / latencies.length) * 1000;
  const cores = (part: 'server' | 'engine') => (run: ServerRun) => run.steady.cpu[part] / run.steady.ms;
  const steadyRate = (run: ServerRun) => perSecond(run.steady) * STEADY.spansEach;
  const rows = [
    beside(
      `lone client, ${SPANS_PER_TRACE} spans a request; beside it a bare fdatasync: p50, ms`,
      (run) => percentile(run.lone.latencies, 50),
      (run) => percentile(run.syncs, 50),
    ),
    beside(
      '  p99, ms',
      (run) => percentile(run.lone.latencies, 99),
      (run) => percentile(run.syncs, 99),
    ),
    beside(
      `${SINGLE_CLIENTS} clients, one span a request; beside it the plain server: requests/s`,
      (run) => perSecond(run.singles),
      (run) => perSecond(run.plainSingles),
    ),
    beside(
      '  p50, ms',
      (run) => percentile(run.singles.latencies, 50),
      (run) => percentile(run.plainSingles.latencies, 50),
    ),
    beside(
      '  p99, ms',
      (run) => percentile(run.singles.latencies, 99),
      (run) => percentile(run.plainSingles.latencies, 99),
    ),
    beside(
      '  processor time per request, µs: server',
      (run) => perRequest(run.singles, 'server'),
      (run) => perRequest(run.plainSingles, 'server'),
    ),
    alone('  processor time per request, µs: engine', (run) => perRequest(run.singles, 'engine')),
    alone(`steady ${STEADY.spansPerSecond.toLocaleString('en')} spans/s, nobody reading: share reached, %`, (run) =>
      Math.min(100, (steadyRate(run) / STEADY.spansPerSecond) * 100),
    ),
    alone('  p50 of a write, ms', (run) => percentile(run.steady.latencies, 50)),
    alone('  p99 of a write, ms', (run) => percentile(run.steady.latencies, 99)),
    alone('  cores used: server', cores('server')),
    alone('  cores used: engine', cores('engine')),
    alone(
      `first \`GET /traces?limit=50\` right after ${options.traces.toLocaleString('en')} one-span traces, ms`,
      (run) => run.burst.firstReadMs,
    ),
    alone('  the next one, ms', (run) => run.burst.secondReadMs),
    alone('  rate at which they were written, traces/s', (run) => (options.traces / run.burst.writeMs) * 1000),
  ];
  return { columns: ['measured', 'server', 'beside', 'ratio'], rows };
}

function perSecond({ latencies, ms }: LoadOutcome): number {
  return (latencies.length / ms) * 1000;
}

export function aboutServer(
  { lone, singles, seconds, traces }: ServerOptions,
  { repetitions }: { readonly repetitions: number },
): string {
  return (
    `A fresh server with default settings, and clients that send JSON with \`fetch\` and its own headers from a thread of another process, after ${WARM_UP_REQUESTS} requests to warm up: ` +
    `${lone} requests of ${SPANS_PER_TRACE} spans by one client, beside as many appends of the same bytes to a file with a fdatasync each, ` +
    `as often before as after; ${singles} requests of one span by ${SINGLE_CLIENTS} clients, beside a plain Node.js server in a process of ` +
    `its own that parses the JSON and appends the bodies to a file with one fdatasync for all that wait, and answers \`{}\`; ` +
    `${STEADY.spansPerSecond} spans/s for ${seconds} s in requests of ${STEADY.spansEach} by up to ${STEADY.clients} clients; then ` +
    `${traces} traces of one span each in requests of ${BURST.tracesEach} by ${BURST.clients} clients, and a list of the newest ` +
    `traces as soon as the last of them is answered. Processor time is that up to when all rollups are done. ` +
    `Medians of ${repetitions} repetitions, each on empty data, the plain server first in every other; ratios are those of the same repetition.`
  );
}
