import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProgress } from '../scripts/progress.js';
import { generateTrace, SPANS_PER_TRACE } from './data.js';
import { megabytes, printTable } from './figures.js';
import type { Bodies } from './processes/load.js';
import { startServerProcess, type ProcessorTime, type ServerProcess } from './processes/server.js';
import type { SteadyLoad } from './processes/steady.js';
import { captureContext, writeResults } from './results.js';
import { loadServer } from './server-load.js';
import { timeClients, type Caller, type Outcome, type TimedCall } from './timed-calls.js';

/*
 * Shared by benches that time calls of one project while it, or another project of the same server, does much else.
 */

const OTHER_PROJECT_ID = '0197f3a0-0000-7000-8000-00000000be9d';
/** API key of the project beside the server's first one. */
export const OTHER_KEY = 'sk_sh_key_of_the_bench_neighbour';
const WARM_UP_MS = 3_000;
/** Pause between two loads, for what a load leaves behind besides rollups, such as merges. */
const REST_MS = 2_000;

export interface BenchOptions {
  readonly seconds: number;
  /** Folder of another checkout, compiled, whose server is measured. Default: this one. */
  readonly checkout?: string;
  /** The node that runs the server. Default: the one that runs the bench. */
  readonly node?: string;
  readonly write: boolean;
}

/** A load on the server while calls are timed. */
export interface Load {
  readonly name: string;
  readonly start: (server: ServerProcess) => SteadyLoad | null;
  /** Whether no calls are made meanwhile, to see what the load reaches by itself. Default: false. */
  readonly alone?: boolean;
}

export interface UnderLoad {
  readonly name: string;
  readonly calls: readonly Outcome[];
  /** Rates of the load: requests a second answered and refused, bytes read a second. Null without a load. */
  readonly load: { readonly answered: number; readonly refused: number; readonly bytesRead: number } | null;
  /** Processor time, in cores. */
  readonly processor: ProcessorTime;
  /** How long all this was counted. */
  readonly ms: number;
}

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Report extends Table {
  /** Sentences below the table. */
  readonly notes: readonly string[];
  /** Summary of the table, kept as a section of its own. */
  readonly summary?: Table & { readonly name: string; readonly about: string };
}

/** Runs a bench on a server with two projects, and prints and keeps what it reports. */
export async function benchTwoProjects(
  options: BenchOptions,
  { name, command, about }: { readonly name: string; readonly command: string; readonly about: string },
  measure: (server: ServerProcess) => Promise<Report>,
): Promise<void> {
  const context = captureContext(options);
  const dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-bench-'));
  try {
    const server = await startWithTwoProjects(options, dataDir);
    try {
      const { notes, summary, ...table } = await measure(server);
      const { server: own, engine } = server.peakMemory();
      const below = [...notes, `Peak memory: server ${megabytes(own)}, engine ${megabytes(engine)}.`];
      printTable(table.columns, table.rows);
      process.stdout.write(`\n${below.join('\n')}\n`);
      if (summary !== undefined) {
        process.stdout.write(`\n${summary.name}\n\n`);
        printTable(summary.columns, summary.rows);
      }
      if (!options.write) return;
      const of = options.checkout === undefined ? '' : ` at commit ${context.commit}`;
      const run = { command: command + serverArguments(options), context, engine: 'embedded' };
      writeResults({ name: `${name}${of}`, ...run, about: [about, ...below].join(' '), ...table });
      if (summary !== undefined) writeResults({ ...run, ...summary, name: `${name}${of}, ${summary.name}` });
    } finally {
      await server.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** A start makes sure of one project; the other one is that of the start before. */
async function startWithTwoProjects({ checkout, node }: BenchOptions, dataDir: string): Promise<ServerProcess> {
  const program = { dataDir, ...(checkout === undefined ? {} : { checkout }), ...(node === undefined ? {} : { node }) };
  const env = { SPANHOUSE_INIT_PROJECT_ID: OTHER_PROJECT_ID, SPANHOUSE_INIT_API_KEY: OTHER_KEY };
  await (await startServerProcess({ ...program, env })).stop();
  return startServerProcess(program);
}

function serverArguments({ checkout, node }: BenchOptions): string {
  const given = [checkout === undefined ? '' : ` --checkout ${checkout}`, node === undefined ? '' : ` --node ${node}`];
  return given.join('');
}

export async function fill(server: ServerProcess, label: string, key: string, bodies: Bodies): Promise<void> {
  await loadServer(server, label, bodies, { key, clients: 2 });
}

/** Some ids of the traces that so many spans from a seed make. */
export function traceIdsOf(seed: number, spans: number): string[] {
  const traces = Math.min(500, Math.floor(spans / SPANS_PER_TRACE));
  return Array.from({ length: traces }, (_none, number) => generateTrace(seed, number)[0]?.trace_id ?? '');
}

export interface Timing {
  readonly label: string;
  readonly seconds: number;
  /** Clients that call at once. Default: one. */
  readonly clients?: number;
  /** After each call. */
  readonly pauseMs?: number;
}

/** Times the calls under each load, one load after the other, for so many seconds each, by one client or several. */
export async function timeUnderEach(
  server: ServerProcess,
  caller: Caller,
  calls: readonly TimedCall[],
  loads: readonly Load[],
  { label, seconds, clients = 1, pauseMs }: Timing,
): Promise<UnderLoad[]> {
  const measured: UnderLoad[] = [];
  const progress = startProgress(label, loads.length * seconds, 's');
  try {
    for (const load of loads) {
      await rested(server, measured.at(-1)?.name ?? 'filling in', Math.min(REST_MS, seconds * 100));
      const before = measured.length * seconds;
      const time = () =>
        timeClients(
          caller,
          load.alone === true ? [] : calls,
          { clients, seconds, ...(pauseMs !== undefined && { pauseMs }) },
          (done) => {
            progress.update(before + Math.min(seconds, Math.round(done)));
          },
        );
      measured.push(await underLoad(server, load, Math.min(WARM_UP_MS, seconds * 250), time));
      progress.update(before + seconds);
    }
    return measured;
  } finally {
    progress.stop();
  }
}

async function underLoad(
  server: ServerProcess,
  { name, start }: Load,
  warmUpMs: number,
  time: () => Promise<Outcome[]>,
): Promise<UnderLoad> {
  const load = start(server);
  try {
    await sleep(warmUpMs);
    const [from, cpuFrom, started] = [await load?.count(), server.cpuMs(), performance.now()];
    const calls = await time();
    const [to, cpuTo, ms] = [await load?.count(), server.cpuMs(), performance.now() - started];
    const processor = { server: (cpuTo.server - cpuFrom.server) / ms, engine: (cpuTo.engine - cpuFrom.engine) / ms };
    if (from === undefined || to === undefined) return { name, calls, load: null, processor, ms };
    const rate = (value: 'answered' | 'refused' | 'bytesRead') =>
      ((to[value] - from[value]) / (to.at - from.at)) * 1000;
    const rates = { answered: rate('answered'), refused: rate('refused'), bytesRead: rate('bytesRead') };
    return { name, calls, load: rates, processor, ms };
  } finally {
    await load?.stop();
  }
}

/** @throws Error when the server is gone */
async function rested(server: ServerProcess, after: string, ms: number): Promise<void> {
  try {
    await server.settled();
  } catch (cause) {
    throw new Error(`the server does not answer any more, after: ${after}`, { cause });
  }
  await sleep(ms);
}
