import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { NODE_FLAGS, NODE_VARIABLES } from '../../scripts/start/node-flags.js';
import { PROGRAM_ENV, programFile } from './program-files.js';

export const PROJECT_ID = '0197f3a0-0000-7000-8000-000000000002';
export const API_KEY = 'sk_sh_test_key_of_durability';
/** Longer than any request may take, unless the machine is busy; one that does not answer by then hangs. */
const REQUEST_TIMEOUT_MS = 15_000;
const START_TIMEOUT_MS = 30_000;

export interface Answer {
  /** 0: no answer, the connection broke. */
  readonly status: number;
  readonly retryAfter: string | null;
  // Tests look into answers of every shape; a wrong guess fails an assertion.

  readonly json: any;
  readonly ms: number;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Of each file that runs beside others: itself, or the program that it started, and an engine. */
const PROCESSES_OF_JOB = 2;

/**
 * A bound on wall time, stretched when more runs on this machine than it has processors. The mean load of a minute lags
 * behind; of files that the runner runs side by side it is known that they do.
 */
export function unhurried(milliseconds: number): number {
  const busy = Math.max(loadavg()[0] ?? 1, PROCESSES_OF_JOB * Number(process.env['SPANHOUSE_TEST_JOBS'] ?? 0));
  return Math.ceil(milliseconds * Math.max(1, busy / availableParallelism()));
}

/** The real program in a process of its own, to be stopped and killed like one. */
export class Program {
  readonly key = API_KEY;
  readonly projectId = PROJECT_ID;
  readonly #process: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly log: string[] = [];
  /** Every line of its standard output. */
  readonly printed: string[] = [];
  readonly spawnedAt = performance.now();
  #url: string | null = null;
  #enginePid: number | null = null;
  #stderr = '';

  private constructor(dataDir: string, env: Readonly<Record<string, string>>, node: string) {
    this.#process = spawn(node, [...NODE_FLAGS, programFile('main')], {
      env: {
        ...PROGRAM_ENV,
        ...NODE_VARIABLES,
        PORT: '0',
        DATA_DIR: dataDir,
        // Whatever else is on the disk of tests.
        MIN_FREE_DISK_MB: '0',
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'info',
        SPANHOUSE_INIT_PROJECT_ID: PROJECT_ID,
        SPANHOUSE_INIT_API_KEY: API_KEY,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.ended = once(this.#process, 'close').then(([code, signal]) => ({ code, signal }));
    if (this.#process.stdout)
      createInterface({ input: this.#process.stdout }).on('line', (line) => {
        this.#read(line);
      });
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
  }

  /** Starts it and leaves it alone. @param node the Node.js that runs it */
  static spawn(dataDir: string, env: Readonly<Record<string, string>> = {}, node = process.execPath): Program {
    return new Program(dataDir, env, node);
  }

  /** Starts it and waits until it is ready. */
  static async start(
    dataDir: string,
    env: Readonly<Record<string, string>> = {},
    node = process.execPath,
  ): Promise<Program> {
    const program = new Program(dataDir, env, node);
    await program.ready();
    return program;
  }

  get url(): string {
    if (this.#url === null) throw new Error('the program does not listen yet');
    return this.#url;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Of the latest engine that became ready. */
  get enginePid(): number {
    if (this.#enginePid === null) throw new Error('no engine has become ready');
    return this.#enginePid;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** What its log complained of last. */
  complaints(): string {
    const lines = this.log.filter((line) => /"level":"(error|warn)"/.test(line) && !/"Request refused"/.test(line));
    const { exitCode, signalCode } = this.#process;
    if (!this.running && exitCode !== 0) lines.push(`The program has ended: ${exitCode ?? signalCode ?? ''}`);
    return lines
      .slice(-20)
      .map((line) => line.slice(0, 1_000))
      .join('\n');
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Waits until `/readyz` answers 200 and ClickHouse can be read. */
  async ready(): Promise<void> {
    const withinMs = unhurried(START_TIMEOUT_MS);
    const deadline = performance.now() + withinMs;
    while (performance.now() < deadline) {
      if (!this.running) throw new Error(`the program ended instead of becoming ready: ${this.#stderr}`);
      if (this.#url !== null && (await this.#isReady())) return;
      await sleep(10);
    }
    throw new Error(`the program is not ready after ${withinMs} ms:\n${this.log.slice(-20).join('\n')}`);
  }

  async #isReady(): Promise<boolean> {
    const { status, json } = await this.request('GET', '/readyz');
    return status === 200 && json.checks.clickhouse === 'ok';
  }

  /** Waits until it is ready on another engine process than this one. */
  async readyAfter(enginePid: number): Promise<void> {
    const deadline = performance.now() + unhurried(START_TIMEOUT_MS);
    while (this.#enginePid === enginePid) {
      if (performance.now() > deadline) throw new Error(`no new engine:\n${this.log.slice(-20).join('\n')}`);
      await sleep(10);
    }
    await this.ready();
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Kills what is left; the data stays. */
  async destroy(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }

  async request(method: string, path: string, body?: unknown): Promise<Answer> {
    const from = performance.now();
    const ms = () => performance.now() - from;
    const withinMs = unhurried(REQUEST_TIMEOUT_MS);
    try {
      const response = await fetch(this.url + path, {
        method,
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(withinMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const json: unknown = text === '' ? undefined : JSON.parse(text);
      return { status: response.status, retryAfter: response.headers.get('retry-after'), json, ms: ms() };
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError')
        throw new Error(`${method} ${path} hangs: no answer within ${withinMs} ms`, { cause: error });
      return { status: 0, retryAfter: null, json: undefined, ms: ms() };
    }
  }

  /**
   * What a request that has to succeed is answered.
   * @param path below the project where it does not begin with a slash
   */
  async ask(method: string, path: string, body?: unknown): Promise<any> {
    const whole = path.startsWith('/') ? path : `/projects/${PROJECT_ID}${path === '' ? '' : `/${path}`}`;
    const { status, json } = await this.request(method, whole, body);
    if (status >= 200 && status <= 299) return json;
    throw new Error(`${method} ${whole} answers ${status}: ${JSON.stringify(json)?.slice(0, 300)}`);
  }

  #read(line: string): void {
    this.printed.push(line);
    if (!line.startsWith('{')) return;
    this.log.push(line);
    const entry = JSON.parse(line) as { message?: string; url?: string; pid?: number };
    if (entry.message === 'Listening' && entry.url !== undefined) this.#url = entry.url;
    if (entry.message === 'Embedded ClickHouse ready' && entry.pid !== undefined) this.#enginePid = entry.pid;
  }
}
