import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { figure, median, megabytes, printTable } from './figures.js';
import { wholeNumber } from './options.js';
import { reasonOf, type Peer } from './peer.js';
import { LONG_TRACE_SPANS, peerData, REQUEST_SPANS, WARM_UP_SPANS, type PeerData } from './peers-data.js';
import { measurePeer, type PeerFigures, type Read } from './peers-measure.js';
import { startMlflow } from './peers-mlflow.js';
import { startPhoenix } from './peers-phoenix.js';
import { startSpanhouse } from './peers-spanhouse.js';
import { captureContext, writeResults } from './results.js';

interface Options {
  readonly spans: number;
  readonly clients: number;
  readonly rounds: number;
  readonly seed: number;
  readonly venv?: string;
  readonly only?: readonly string[];
  readonly write: boolean;
}

/** `peers`: the same spans sent to other products, and read from them. */
export function register(program: Command): void {
  program
    .command('peers')
    .description('send the same OTLP spans to Spanhouse, Phoenix and MLflow, one after another, and read them there')
    .option('--spans <n>', 'spans sent to each', wholeNumber(1_000, 5_000_000), 100_000)
    .option('--clients <n>', 'clients that send at once', wholeNumber(1, 64), 4)
    .option('--rounds <n>', 'how often each read is repeated after its first time', wholeNumber(1, 99), 5)
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--venv <dir>', 'folder of the Python environments, kept for the next run (default: a temporary one)')
    .option('--only <names...>', 'only these products, such as MLflow')
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

async function bench(options: Options): Promise<void> {
  const context = captureContext();
  const directory = await mkdtemp(join(tmpdir(), 'spanhouse-bench-peers-'));
  const venv = resolve(options.venv ?? join(directory, 'venv'));
  const starts: readonly (readonly [string, (folder: string) => Promise<Peer>])[] = [
    ['Spanhouse', (folder) => startSpanhouse(folder, context.commit)],
    ['Phoenix', (folder) => startPhoenix(folder, join(venv, 'phoenix'))],
    ['MLflow', (folder) => startMlflow(folder, join(venv, 'mlflow'))],
  ];
  try {
    const data = peerData(options.seed, options.spans);
    const measured: PeerFigures[] = [];
    const skipped: string[] = [];
    for (const [name, start] of starts.filter(([name]) => options.only?.includes(name) !== false)) {
      const folder = join(directory, name);
      await mkdir(folder);
      try {
        const peer = await start(folder);
        process.stderr.write(`${name} ${peer.version}\n`);
        measured.push(await measurePeer(peer, data, options.clients, options.rounds));
      } catch (error) {
        const reason = reasonOf(error);
        process.stderr.write(`${name} is skipped: ${reason}\n`);
        skipped.push(`${name} was skipped: ${reason.split('\n', 1)[0] ?? ''}`);
      }
      await rm(folder, { recursive: true, force: true });
    }
    const { columns, rows } = tableOf(data, measured);
    printTable(columns, rows);
    if (!options.write) return;
    const { spans, clients, rounds } = options;
    const command = `npm run bench -- peers --spans ${spans} --clients ${clients} --rounds ${rounds}`;
    const about = [aboutOf(options, data), ...skipped].join(' ');
    writeResults({ name: 'Peers', command, context, engine: 'embedded', about, columns, rows });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function tableOf({ spans, traces }: PeerData, measured: readonly PeerFigures[]) {
  const row = (name: string, cell: (figures: PeerFigures) => string) => [name, ...measured.map(cell)];
  const read = (name: string, which: keyof PeerFigures['reads']) =>
    row(`${name}: first / again, ms`, ({ reads }) => cellOf(reads[which]));
  const perSecond = (ms: number) => figure((spans / ms) * 1000);
  const rows = [
    row('accepted, spans/s', ({ acceptedMs }) => perSecond(acceptedMs)),
    row('readable, spans/s', ({ readableMs }) => perSecond(readableMs)),
    row('requests sent again', ({ sentAgain }) => String(sentAgain)),
    row(`traces counted of ${traces.toLocaleString('en')}`, ({ tracesCounted }) =>
      tracesCounted === null ? 'none' : tracesCounted.toLocaleString('en'),
    ),
    read('newest 50 traces', 'list'),
    read('newest 50 with errors', 'errors'),
    read('newest 50 with a text that few have', 'rareText'),
    read('newest 50 with a text that many have', 'commonText'),
    read(`a trace of ${LONG_TRACE_SPANS.toLocaleString('en')} spans, whole`, 'whole'),
    row('memory after writing', ({ memory }) => megabytes(memory.written)),
    row('memory, most', ({ memory }) => megabytes(memory.most)),
    row('on disk after a stop, bytes per span', ({ diskBytes }) =>
      figure(diskBytes / (WARM_UP_SPANS + spans + LONG_TRACE_SPANS)),
    ),
  ];
  return { columns: ['measured', ...measured.map(({ name, version }) => `${name} ${version}`)], rows };
}

function cellOf(read: Read): string {
  if (read === null) return 'none';
  if (typeof read === 'string') return read;
  const times = `${figure(read.firstMs)} / ${figure(median(read.againMs))}`;
  return read.found === 0 ? `${times}, found nothing` : times;
}

function aboutOf({ spans, clients, rounds }: Options, { main }: PeerData): string {
  const bytes = main.requests.reduce((sum, { length }) => sum + length, 0);
  return (
    `The spans of «OTLP» (${figure(bytes / spans)} bytes of protobuf each), ${spans} in requests of ${REQUEST_SPANS} by ${clients} clients, sent to each product ` +
    `alone on the machine, with its default settings and its own storage (SQLite for Phoenix and MLflow), one product after another, after ${WARM_UP_SPANS} spans to warm up. A request that is ` +
    `answered 429 or 5xx, or whose connection is closed, is sent again after a quarter of a second. Readable: when every span of the last traces is answered by the product's own API. ` +
    `Reads by one client, once and then ${rounds} times more (the median): lists as the product's pages ask for them (Spanhouse: REST, whole traces ` +
    `with their figures; Phoenix: GraphQL, root spans with those below them; MLflow: REST, traces with previews), the errors of any span of a trace, ` +
    `a text anywhere in inputs and outputs (Phoenix: spans whose input or output has it, told apart by case), and all spans of a trace with all that they hold ` +
    `(Phoenix: in pages of 1,000). "none": the product has no such call. Memory is the resident memory of all processes of the product added up.`
  );
}
