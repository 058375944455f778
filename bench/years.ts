import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import { copyData } from './data-dir.js';
import { figure, megabytes, printTable } from './figures.js';
import { wholeNumber } from './options.js';
import { captureContext, writeResults } from './results.js';
import { BACKUP_STEPS } from './years-backups.js';
import { dataDirOf, filled } from './years-data.js';
import { MOVE_STEPS } from './years-move.js';
import { RETENTION, RETENTION_STEPS } from './years-retention.js';
import { Scene, type Done, type Step } from './years-scene.js';
import { TRANSFER_STEPS } from './years-transfer.js';
import { times } from './years-trickle.js';

interface Options {
  readonly spans: number;
  readonly seed: number;
  readonly steps?: readonly Step[];
  readonly data?: string;
  readonly quiet: number;
  readonly write: boolean;
}

/** In the order in which they run: what removes spans, or moves them, comes last. */
const STEPS: readonly Step[] = [...BACKUP_STEPS, ...TRANSFER_STEPS, ...RETENTION_STEPS, ...MOVE_STEPS];

/** `years`: what keeps a server for years, with clients that never pause. */
export function register(program: Command): void {
  program
    .command('years')
    .description('time backups, moves, retention and erasure of two months of spans, with what clients feel meanwhile')
    .option('--spans <n>', 'spans stored beforehand', wholeNumber(60_000, 100_000_000), 10_000_000)
    .option('--steps <names>', `which, with commas: ${STEPS.map(({ name }) => name).join(',')} (default: all)`, chosen)
    .option('--data <folder>', 'where the filled data is, or is to be, kept for further runs (default: removed)')
    .option('--quiet <n>', 'seconds for which clients are timed alone before each step', wholeNumber(1, 600), 20)
    .option('--seed <n>', 'seed of the data', wholeNumber(0, 2 ** 31), 1)
    .option('--no-write', 'print only, leave bench/RESULTS.md alone')
    .action(bench);
}

function chosen(text: string): Step[] {
  const names = text.split(',');
  const unknown = names.filter((name) => !STEPS.some((step) => step.name === name));
  if (unknown.length > 0) throw new InvalidArgumentError(`There is no step ${unknown.join(', ')}.`);
  const steps = STEPS.filter(({ name }) => names.includes(name));
  for (const { name, needs } of steps) {
    const missing = needs.filter((need) => !names.includes(need));
    if (missing.length > 0) throw new InvalidArgumentError(`${name} needs ${missing.join(', ')} before it.`);
  }
  return steps;
}

async function bench({ spans, seed, steps = STEPS, data, quiet, write }: Options): Promise<void> {
  const context = captureContext();
  const scratch = await mkdtemp(join(tmpdir(), 'spanhouse-bench-'));
  try {
    const folder = data === undefined ? join(scratch, 'filled') : resolve(data);
    const note = await filled(folder, spans, seed);
    // Beside it, so that it is on the same disk.
    const dataDir = await mkdtemp(`${folder}-run-`);
    try {
      await copyData(dataDirOf(folder), dataDir);
      await mkdir(join(scratch, 'run'));
      const scene = new Scene({ dataDir, scratch: join(scratch, 'run'), filled: note, quietSeconds: quiet });
      const rows = await timeAll(scene, steps);
      printTable(COLUMNS, rows);
      const command = `npm run bench -- years --spans ${spans} --steps ${steps.map(({ name }) => name).join(',')} --quiet ${quiet}`;
      const run = { command, context, engine: 'embedded', about: aboutOf(quiet), columns: COLUMNS, rows };
      if (write) writeResults({ name: `Years of ${spans.toLocaleString('en')} spans`, ...run });
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function timeAll(scene: Scene, steps: readonly Step[]): Promise<string[][]> {
  const rows: string[][] = [];
  await scene.start(RETENTION);
  try {
    for (const step of steps) {
      process.stderr.write(`${step.name}: step ${rows.length + 1} of ${steps.length}\n`);
      rows.push(rowOf(step, await step.run(scene)));
      process.stderr.write(`${rows.at(-1)?.join(' | ') ?? ''}\n`);
    }
    await scene.requireWritten();
    return rows;
  } finally {
    await scene.close();
  }
}

const COLUMNS = [
  'step',
  'seconds',
  'spans',
  'spans/s',
  'bytes',
  'writes p50 / p95, ms: quiet → meanwhile',
  'reads p50 / p95, ms: quiet → meanwhile',
  'failed calls',
  'figures that are equal',
  'notes',
];

function rowOf({ name }: Step, { spans, bytes, timing, equal, note = '' }: Done): string[] {
  const { seconds, quiet, meanwhile } = timing;
  const known = (value: number, text: string) => (Number.isNaN(value) ? '' : text);
  return [
    name,
    figure(seconds),
    known(spans, spans.toLocaleString('en')),
    known(spans, figure(spans / seconds)),
    known(bytes, megabytes(bytes)),
    times(quiet.writes, meanwhile.writes),
    times(quiet.reads, meanwhile.reads),
    String(meanwhile.failures.length),
    `all ${equal}`,
    note,
  ];
}

function aboutOf(quiet: number): string {
  return (
    'Spans of three projects over 60 days, with sessions, costs, feedback and images, on one server with default settings. One client writes a trace of 12 ' +
    'spans to a fourth project every 200 ms, one reads the newest 50 traces, spans or sessions of the largest project as often; they are timed ' +
    `for ${quiet} s right before each step, and while it runs. Bytes are those that a backup or file has more of, a restore or import takes on the disk, and ` +
    'retention and erasure freed. Figures are counts, sums and percentiles of all lists of all projects, and their first rows by several orders: after each step ' +
    'they are asked for again, and the run fails where one differs. The import goes into another server, once without clients; the list that is read there grows meanwhile.'
  );
}
