import { get, type ClientRequest } from 'node:http';
import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS, requestBodies, singleBodies } from './bodies.js';
import { figure, median, percentile } from './figures.js';
import type { Bodies } from './processes/load.js';
import { bodiesOf } from './mixed-loads.js';
import { wholeNumber } from './options.js';
import type { ServerProcess } from './processes/server.js';
import { startSteadyLoad, type SteadyLoad } from './processes/steady.js';
import type { TimedCall } from './timed-calls.js';
import { benchTwoProjects, fill, timeUnderEach, type BenchOptions, type Load, type UnderLoad } from './two-projects.js';

const SPANS_PER_SECOND = 1_000;
/** Spans of a request of the paced load. */
const PACED_SPANS = 20;
/** Requests and spans that are sent again and again. */
const POOL = { requests: 200, singles: 3_000 };
/** No two alike, so that none is read together with another. */
const TAILS = [
  '/spans:tail',
  '/traces:tail',
  '/spans:tail?fields=id,name',
  '/traces:tail?fields=id',
  '/spans:tail?has_error=true',
];

/** How many of them follow, in turns. */
const FOLLOWERS = [0, 1, TAILS.length];

interface Options extends BenchOptions {
  readonly spans: number;
  readonly rounds: number;
  readonly seed: number;
}

/** `tail`: what it costs those who write that others follow. */
export function register(program: Command): void {
  program
    .command('tail')
    .description('write spans with and without tails of the same project, in turns')
    .option('--seconds <n>', 'how long each load is measured', wholeNumber(1, 600), 15)
    .option('--spans <n>', 'spans stored beforehand', wholeNumber(REQUEST_SPANS, 1_000_000), 60_000)
    .option('--rounds <n>', 'how often each load is measured; medians are reported', wholeNumber(1, 20), 3)
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

function bench(options: Options): Promise<void> {
  const { seed, spans, seconds, rounds } = options;
  const about =
    `Writes to one project while nobody follows it, and while one tail and ${TAILS.length} do, each with another query: ` +
    `${SPANS_PER_SECOND} spans a second, ${PACED_SPANS} at a time, and as many as the server takes, ${REQUEST_SPANS} at a time by ` +
    `${REQUEST_CLIENTS} clients; beside them one client writes single spans. In turns, medians of ${rounds} rounds of ${seconds} s.`;
  const command = `npm run bench -- tail --seconds ${seconds} --spans ${spans} --rounds ${rounds} --seed ${seed}`;
  const pools = {
    paced: bodiesOf(seed + 2, PACED_SPANS),
    flood: requestBodies(seed + 3, POOL.requests * REQUEST_SPANS),
  };
  return benchTwoProjects(options, { name: 'Tails', command, about }, async (server) => {
    await fill(server, 'spans of the project', server.key, requestBodies(seed, spans));
    const singles = singleBodies(seed + 1, POOL.singles);
    const write: TimedCall = {
      name: 'write of one span',
      request: (round) => ({ path: '/spans', body: singles.at(round % singles.ends.length) }),
    };
    const timing = { label: 'tail', seconds };
    const loads = Array.from({ length: rounds }, (_none, round) => loadsOf(pools, round)).flat();
    const measured = await timeUnderEach(server, server, [write], loads, timing);
    return { columns: COLUMNS, rows: rowsOf(measured), notes: [] };
  });
}

const COLUMNS = [
  'load',
  'tails',
  'spans/s written',
  'against none',
  'write of one span, p50 / p95, ms',
  'processor, server / engine',
];

const PACED = `${SPANS_PER_SECOND} spans/s`;
const FLOOD = 'flood';

/** All loads, in an order that turns with the rounds. */
function loadsOf({ paced, flood }: Record<'paced' | 'flood', Bodies>, round: number): Load[] {
  const by = ({ url, key }: ServerProcess, clients: number) => ({ url, key, clients, refusable: true });
  const perSecond = SPANS_PER_SECOND / PACED_SPANS;
  const first = round % FOLLOWERS.length;
  return [...FOLLOWERS.slice(first), ...FOLLOWERS.slice(0, first)].flatMap((count) => [
    {
      name: `${PACED}|${count}`,
      start: (server) =>
        followed(server, count, startSteadyLoad(paced, { ...by(server, 8), perSecond }, series(round, count))),
    },
    {
      name: `${FLOOD}|${count}`,
      start: (server) =>
        followed(server, count, startSteadyLoad(flood, by(server, REQUEST_CLIENTS), series(round, count))),
    },
  ]);
}

/** Ids of its own for each load. */
const series = (round: number, count: number) => ({ series: round * FOLLOWERS.length + FOLLOWERS.indexOf(count) });

/** A load, with so many tails for as long as it goes on. */
function followed({ url, key }: ServerProcess, count: number, load: SteadyLoad): SteadyLoad {
  const tails: ClientRequest[] = TAILS.slice(0, count).map((path) =>
    get(url + path, { agent: false, headers: { authorization: `Bearer ${key}` } }, (response) => response.resume()).on(
      'error',
      () => undefined,
    ),
  );
  return {
    count: () => load.count(),
    async stop() {
      for (const tail of tails) tail.destroy();
      await load.stop();
    },
  };
}

function rowsOf(measured: readonly UnderLoad[]): string[][] {
  return [PACED, FLOOD].flatMap((load) => {
    const of = (count: number) => measured.filter(({ name }) => name === `${load}|${count}`);
    const rate = (count: number) =>
      median(
        of(count).map(({ load: rates }) => (rates?.answered ?? NaN) * (load === PACED ? PACED_SPANS : REQUEST_SPANS)),
      );
    return FOLLOWERS.map((count) => {
      const times = of(count).flatMap(({ calls }) => calls.flatMap(({ latencies }) => latencies));
      const cores = (side: 'server' | 'engine') => figure(median(of(count).map(({ processor }) => processor[side])));
      return [
        load,
        String(count),
        figure(rate(count)),
        `${figure((rate(count) / rate(0)) * 100)} %`,
        `${figure(median(times))} / ${figure(percentile(times, 95))}`,
        `${cores('server')} / ${cores('engine')}`,
      ];
    });
  });
}
