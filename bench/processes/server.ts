import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { NODE_FLAGS, NODE_VARIABLES } from '../../scripts/start/node-flags.js';
import { PROJECT_ID } from '../rows.js';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
/** Where another checkout has what MAIN is in this one. */
const MAIN_OF_CHECKOUT = 'dist/src/main.js';
const PLAIN = fileURLToPath(new URL('./plain-server.js', import.meta.url));
const START_TIMEOUT_MS = 120_000;
const API_KEY = 'sk_sh_key_of_the_bench';

/** A server with an engine, in a process of its own. */
export interface PlainProcess {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  /** Processor time that the server and its engine have used so far, in milliseconds; NaN where the system does not tell. */
  cpuMs(): ProcessorTime;
  stop(): Promise<void>;
}

/** The real server, as `npm start` runs it. */
export interface ServerProcess extends PlainProcess {
  /** Processor time that its main thread alone has used so far, in milliseconds; NaN where the system does not tell. */
  mainThreadMs(): number;
  /** From spawning the process to its answer that it is ready. */
  readonly readyMs: number;
  /** The most memory that the server and its engine have held so far, in bytes; NaN where the system does not tell. */
  peakMemory(): { readonly server: number; readonly engine: number };
  /** The sum of what `/metrics` says under these names so far. A name is a regular expression, labels included. */
  metric(name: string): Promise<number>;
  /** Commits so far, and the rows in them. */
  commits(): Promise<{ readonly count: number; readonly rows: number }>;
  /** Resolves once every rollup is done. */
  settled(): Promise<void>;
}

export interface ProcessorTime {
  readonly server: number;
  readonly engine: number;
}

export interface ServerOptions {
  readonly dataDir: string;
  /** Arguments of node itself, such as `--cpu-prof`. */
  readonly nodeArguments?: readonly string[];
  /** Environment variables on top of the bench's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder of another checkout, compiled, whose server is run. Default: this one. */
  readonly checkout?: string;
  /** The node that runs the server. Default: the one that runs the bench. */
  readonly node?: string;
}

/** @throws Error with the server's last words when it does not become ready. */
export async function startServerProcess({
  dataDir,
  nodeArguments = [],
  env = {},
  checkout,
  node = process.execPath,
}: ServerOptions): Promise<ServerProcess> {
  const started = performance.now();
  const main = checkout === undefined ? MAIN : resolvePath(checkout, MAIN_OF_CHECKOUT);
  if (!existsSync(main)) throw new Error(`there is no ${main}: is that checkout compiled?`);
  const child = run(node, [...NODE_FLAGS, ...nodeArguments, main], {
    ...NODE_VARIABLES,
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
    SPANHOUSE_INIT_PROJECT_ID: PROJECT_ID,
    SPANHOUSE_INIT_API_KEY: API_KEY,
    ...env,
  });
  const announcedProcess = await announced(child);
  const { url } = announcedProcess;
  const ready = await fetch(`${url}/readyz`);
  if (!ready.ok) throw new Error(`the server is not ready: ${await ready.text()}`);
  const readyMs = performance.now() - started;
  const metric = async (name: string) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return [...text.matchAll(new RegExp(`^${name} (\\S+)$`, 'gm'))].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  return {
    ...announcedProcess,
    readyMs,
    metric,
    mainThreadMs: () => cpuMsOf(`/proc/${String(child.pid)}/task/${String(child.pid)}`),
    peakMemory: () => ({ server: peakMemoryOf(child.pid), engine: peakMemoryOf(childOf(child.pid)) }),
    commits: async () => ({
      count: await metric('spanhouse_commit_rows_count'),
      rows: await metric('spanhouse_commit_rows_sum'),
    }),
    async settled() {
      while ((await metric('spanhouse_rollup_pending_traces')) > 0) await new Promise((done) => setTimeout(done, 100));
    },
  };
}

/** A server that only inserts, see plain-server.ts. @throws like the above */
export function startPlainProcess(dataDir: string): Promise<PlainProcess> {
  return startProgram([PLAIN, dataDir], {});
}

/** Any program that says, as the server does, at which URL it is ready. @throws like the above */
export function startProgram(
  commandLine: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<PlainProcess> {
  return announced(run(process.execPath, commandLine, environment));
}

function run(
  node: string,
  commandLine: readonly string[],
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  return spawn(node, commandLine, {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function announced(child: ChildProcess): Promise<PlainProcess> {
  return {
    url: await announcedUrl(child),
    key: API_KEY,
    pid: child.pid ?? NaN,
    cpuMs: () => ({
      server: cpuMsOf(`/proc/${String(child.pid)}`),
      engine: threadsMsOf(`/proc/${String(childOf(child.pid))}`),
    }),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function announcedUrl(child: ChildProcess): Promise<string> {
  const lastWords: string[] = [];
  const deadline = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  try {
    return await new Promise((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        if (stream === null) continue;
        createInterface({ input: stream }).on('line', (line) => {
          const url = / is ready at (http\S+?),?(\s|$)/.exec(line)?.[1];
          if (url !== undefined) resolve(url);
          else if (line.trim() !== '') lastWords.push(line);
          if (/"level":"(warn|error)"/.test(line)) process.stderr.write(`server: ${line}\n`);
        });
      }
      child.once('error', reject);
      child.once('exit', () => {
        reject(new Error(`the server does not start:\n${lastWords.slice(-20).join('\n')}`));
      });
    });
  } finally {
    clearTimeout(deadline);
  }
}

function childOf(pid: number | undefined): number | undefined {
  const file = `/proc/${String(pid)}/task/${String(pid)}/children`;
  const first = existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ')[0] : '';
  return first === '' ? undefined : Number(first);
}

/** The high-water mark of resident memory that Linux keeps of every process. */
function peakMemoryOf(pid: number | undefined): number {
  const file = `/proc/${String(pid)}/status`;
  const kib = existsSync(file) ? /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
  return kib === undefined ? NaN : Number(kib) * 1024;
}

/** Linux counts a hundred ticks a second for programs, on every machine. */
const MS_PER_TICK = 10;

/** @param task folder of a process, or of one of its threads */
function cpuMsOf(task: string): number {
  const file = `${task}/stat`;
  if (!existsSync(file)) return NaN;
  // The name in parentheses may hold blanks; user and system time are the 12th and 13th field after it.
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** Of a process that keeps its threads, in nanoseconds as the scheduler counts: a call may take less than a tick. @param task its folder */
function threadsMsOf(task: string): number {
  if (!existsSync(`${task}/task`)) return NaN;
  const nanoseconds = readdirSync(`${task}/task`).map((thread) => {
    try {
      return Number(readFileSync(`${task}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      // It has just ended.
      return 0;
    }
  });
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
}
