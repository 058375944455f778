import type { Command } from 'commander';
import { REQUEST_CLIENTS, REQUEST_SPANS } from './bodies.js';
import type { GeneratedSpan } from './data.js';
import { printTable } from './figures.js';
import { rowsOf, takenBy, type Kind } from './kinds.js';
import { wholeNumber } from './options.js';
import { captureContext, writeResults } from './results.js';

interface Options {
  readonly spans: number;
  readonly repetitions: number;
  readonly write: boolean;
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
  const rows = rowsOf(KINDS, await takenBy(KINDS, spans, repetitions));
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
}

const COLUMNS = ['what', 'server, µs', 'engine, µs', 'together', 'against a span without a score'];

/** A value between 0 and 1 that an id stands for. */
function valueOf(id: string): number {
  return Number.parseInt(id.slice(0, 6), 16) / 0xffffff;
}
