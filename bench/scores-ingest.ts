import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS } from './bodies.js';
import { generateTrace, SPANS_PER_TRACE, type GeneratedSpan } from './data.js';
import { figure, median, printTable } from './figures.js';
import { wholeNumber } from './options.js';
import { Bodies } from './processes/load.js';
import { startServerProcess } from './processes/server.js';
import { captureContext, writeResults } from './results.js';
import { loadServer } from './server-load.js';

const TRACES_PER_REQUEST = REQUEST_SPANS / SPANS_PER_TRACE;

interface Options {
  readonly spans: number;
  readonly repetitions: number;
  readonly write: boolean;
}

/** What is sent, and processor time of one of it, in microseconds. */
interface Kind {
  readonly name: string;
  readonly path: string;
  readonly bodyOf: (spans: readonly GeneratedSpan[]) => unknown;
}

const score = ({ id }: GeneratedSpan) => ({ entity_type: 'span', entity_id: id, name: 'quality', value: valueOf(id) });
const KINDS: readonly Kind[] = [
  { name: 'a span without a score', path: '/spans', bodyOf: (spans) => spans },
  {
    name: 'a span with a score in it',
    path: '/spans',
    bodyOf: (spans) => spans.map((span) => ({ ...span, signals: { quality: valueOf(span.id) } })),
  },
  { name: 'a score of its own', path: '/scores', bodyOf: (spans) => spans.map(score) },
];

/** `scores-ingest`: what scores cost when they come, against spans. */
export function register(program: Command): void {
  program
    .command('scores-ingest')
    .description('send spans without scores, spans with scores and scores alone to a fresh server, in turn')
    .option('--spans <n>', 'spans, or scores, of each kind and repetition', wholeNumber(REQUEST_SPANS, 500_000), 24_000)
    .option('--repetitions <n>', 'repetitions after one to warm up', wholeNumber(1, 99), 3)
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

async function bench({ spans, repetitions, write }: Options): Promise<void> {
  const context = captureContext();
  const directory = await mkdtemp(join(tmpdir(), 'spanhouse-bench-'));
  const server = await startServerProcess({ dataDir: directory });
  try {
    const taken = new Map<string, number[][]>(KINDS.map(({ name }) => [name, []]));
    for (let run = 0; run <= repetitions; run += 1)
      for (const [index, kind] of KINDS.entries()) {
        const bodies = bodiesOf(kind, run * KINDS.length + index, spans);
        const target = { clients: REQUEST_CLIENTS, path: kind.path };
        const { cpu } = await loadServer(server, kind.name, bodies, target, () => server.settled());
        if (run > 0) taken.get(kind.name)?.push([cpu.server, cpu.engine].map((ms) => (ms * 1000) / spans));
      }
    const rows = rowsOf(taken);
    printTable(COLUMNS, rows);
    if (!write) return;
    writeResults({
      name: 'Ingest of scores',
      command: `npm run bench -- scores-ingest --spans ${spans} --repetitions ${repetitions}`,
      context,
      engine: 'embedded',
      about:
        `Processor time of the server and its engine, rollups included, of requests of ${REQUEST_SPANS} by ${REQUEST_CLIENTS} clients: ` +
        `${spans} of each kind in turn, medians of ${repetitions} turns after one to warm up.`,
      columns: COLUMNS,
      rows,
    });
  } finally {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

const COLUMNS = ['what', 'server, µs', 'engine, µs', 'together', 'against a span without a score'];

function rowsOf(taken: ReadonlyMap<string, readonly (readonly number[])[]>): string[][] {
  const of = (name: string, column: number) => median((taken.get(name) ?? []).map((each) => each[column] ?? NaN));
  const together = (name: string) => of(name, 0) + of(name, 1);
  return KINDS.map(({ name }) => [
    ...[name, figure(of(name, 0)), figure(of(name, 1)), figure(together(name))],
    figure(together(name) / together(KINDS[0]?.name ?? '')),
  ]);
}

function bodiesOf({ bodyOf }: Kind, series: number, spans: number): Bodies {
  return new Bodies(
    Array.from({ length: Math.ceil(spans / REQUEST_SPANS) }, (_none, request) => {
      const first = request * TRACES_PER_REQUEST;
      const traces = Array.from({ length: TRACES_PER_REQUEST }, (_trace, index) =>
        generateTrace(series, first + index),
      );
      return Buffer.from(JSON.stringify(bodyOf(traces.flat().slice(0, spans - request * REQUEST_SPANS))));
    }),
  );
}

/** A value between 0 and 1 that an id stands for. */
function valueOf(id: string): number {
  return Number.parseInt(id.slice(0, 6), 16) / 0xffffff;
}
