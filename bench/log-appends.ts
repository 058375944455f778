import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../src/config/config.js';
import { startProgress } from '../scripts/progress.js';
import { figure, median, percentile } from './figures.js';
import type { AppendsJob, AppendsOutcome } from './processes/appends-main.js';
import { WAYS, type Way } from './processes/log-ways.js';

/** Clients that append at once, and what each appends: so many bytes of so many rows. */
interface Workload {
  readonly clients: number;
  readonly bytes: number;
  readonly rows: number;
}

const WORKLOADS: readonly Workload[] = [
  { clients: 1, bytes: 28_000, rows: 12 },
  { clients: 64, bytes: 700, rows: 1 },
  { clients: 16, bytes: 70_000, rows: 30 },
];

/** Outcomes of the repetitions, by workload and way. */
export type Appends = readonly Readonly<Record<Way, readonly AppendsOutcome[]>>[];

/** Measures each way with each workload, in a process of its own each time; the ways take turns in being first. */
export async function measureAppends({
  seconds,
  repetitions,
}: {
  readonly seconds: number;
  readonly repetitions: number;
}): Promise<Appends> {
  const measured = WORKLOADS.map(() => ({
    segments: new Array<AppendsOutcome>(),
    sqlite: new Array<AppendsOutcome>(),
    bare: new Array<AppendsOutcome>(),
  }));
  const progress = startProgress('appends', repetitions * WORKLOADS.length * WAYS.length, 'stretches');
  let done = 0;
  try {
    for (let repetition = 0; repetition < repetitions; repetition += 1)
      for (const [index, workload] of WORKLOADS.entries())
        for (let turn = 0; turn < WAYS.length; turn += 1) {
          const way = WAYS[(turn + repetition) % WAYS.length] ?? 'segments';
          measured[index]?.[way].push(await measureOne(way, workload, seconds));
          progress.update((done += 1));
        }
    return measured;
  } finally {
    progress.stop();
  }
}

async function measureOne(way: Way, workload: Workload, seconds: number): Promise<AppendsOutcome> {
  const directory = await mkdtemp(join(tmpdir(), 'spanhouse-bench-log-'));
  const child = fork(new URL('./processes/appends-main.js', import.meta.url), { serialization: 'advanced' });
  try {
    const { maxRows, maxBytes } = loadConfig({}).commit;
    child.send({ way, directory, ...workload, seconds, maxRows, maxBytes } satisfies AppendsJob);
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the process that appends ended with ${String(code)}`);
    });
    const answered = once(child, 'message') as Promise<[AppendsOutcome]>;
    const [outcome] = await Promise.race([answered, ended]);
    await ended.catch(() => undefined);
    return outcome;
  } finally {
    if (child.exitCode === null) child.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  }
}

/** Each figure is the median of those of the repetitions, a ratio of their ratios. */
export function appendsTable(appends: Appends) {
  const rows: string[][] = [];
  const add = (measured: string, outcomes: Appends[number], value: (outcome: AppendsOutcome) => number) => {
    const of = (way: Way) => outcomes[way].map(value);
    const [segments, sqlite, bare] = [of('segments'), of('sqlite'), of('bare')];
    const against = (others: readonly number[]) => segments.map((each, at) => each / (others[at] ?? NaN));
    const cells = [segments, sqlite, bare, against(sqlite), against(bare)];
    rows.push([measured, ...cells.map((values) => figure(median(values)))]);
  };
  for (const [index, { clients, bytes }] of WORKLOADS.entries()) {
    const outcomes = appends[index];
    if (outcomes === undefined) continue;
    const clientsAnd = `${clients} client${clients === 1 ? '' : 's'}, ${bytes / 1000} KB`;
    add(`${clientsAnd}: p50, ms`, outcomes, ({ latencies }) => percentile(latencies, 50));
    add('  p99, ms', outcomes, ({ latencies }) => percentile(latencies, 99));
    add('  records/s', outcomes, ({ latencies, ms }) => (latencies.length / ms) * 1000);
    add('  processor time per record, µs', outcomes, ({ latencies, cpuMs }) => (cpuMs / latencies.length) * 1000);
  }
  const columns = [
    'measured',
    'segment files',
    'SQLite',
    'bare file',
    'segment files / SQLite',
    'segment files / bare',
  ];
  return { columns, rows };
}

export function aboutAppends({ seconds, repetitions }: { readonly seconds: number; readonly repetitions: number }) {
  return (
    `Clients in one process append records, each one after another, and wait until each is on the disk; what comes while one group is ` +
    `written goes in the next, as in the server's commit log and by its limits. Segment files: the server's write-ahead log. ` +
    `SQLite: a file of its own (better-sqlite3, WAL, synchronous=FULL) that a thread writes, one transaction a group, with the records ` +
    `transferred to it. Bare file: the bytes alone, written and synced (fdatasync) once a group. Every 4 MB each lets go of what it holds: ` +
    `segments are removed, rows deleted, the bare file truncated. Processor time is that of the whole process, with the making of the ` +
    `records. Medians of ${repetitions} stretches of ${seconds} s, each in a process of its own; ratios are those of the same round.`
  );
}
