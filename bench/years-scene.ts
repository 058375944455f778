import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Remote } from '../scripts/transfer/remote.js';
import { REQUEST_CLIENTS, requestBodies } from './bodies.js';
import { sendLoad } from './processes/load.js';
import { startServerProcess, type ProcessorTime, type ServerProcess } from './processes/server.js';
import { FILLED, WRITTEN, type Filled, type Project } from './years-data.js';
import { Trickle, type Felt } from './years-trickle.js';

/** Of traces that are taken in while no clients are there: others than theirs. */
const TAKEN_IN_SEED = 4712;
const INDEXED = 'spanhouse_words_indexed_spans_total';
const NOBODY: Felt = { writes: [], reads: [], failures: [] };
const ADMIN = fileURLToPath(new URL('../scripts/admin.js', import.meta.url));

/** What a step did, after its figures were compared. */
export interface Done {
  readonly spans: number;
  /** Bytes that it wrote, read or freed. */
  readonly bytes: number;
  readonly timing: Timing;
  /** Figures that were compared, and are equal. */
  readonly equal: number;
  readonly note?: string;
}

/** How long it took, and what clients felt in the quiet right before, and meanwhile. */
export interface Timing {
  readonly seconds: number;
  readonly quiet: Felt;
  readonly meanwhile: Felt;
}

export interface Step {
  readonly name: string;
  /** Steps that must have run before it. */
  readonly needs: readonly string[];
  /** @throws Error when a list says something else afterwards than it should */
  readonly run: (scene: Scene) => Promise<Done>;
}

export interface SceneOptions {
  readonly dataDir: string;
  /** For backups and files. */
  readonly scratch: string;
  readonly filled: Filled;
  readonly quietSeconds: number;
}

/** Clients that are timed. */
export type Watched = Pick<Trickle, 'felt'>;

/** A server with clients that never pause, and what steps leave for later ones. */
export class Scene {
  readonly dataDir: string;
  readonly scratch: string;
  readonly filled: Filled;
  /** What is to be ended when all steps have run. */
  readonly closers: (() => Promise<void>)[] = [];
  readonly #quietMs: number;
  #server: ServerProcess | undefined;
  #trickle: Trickle | undefined;
  #sent = 0;
  #acknowledged = 0;

  constructor({ dataDir, scratch, filled, quietSeconds }: SceneOptions) {
    this.dataDir = dataDir;
    this.scratch = scratch;
    this.filled = filled;
    this.#quietMs = quietSeconds * 1000;
  }

  get url(): string {
    return this.#running().url;
  }

  remote({ key }: Project): Remote {
    return new Remote(this.url, key);
  }

  metric(name: string): Promise<number> {
    return this.#running().metric(name);
  }

  /** Processor time that the server and its engine have used since the start, with what clients make them do. */
  cpuMs(): ProcessorTime {
    return this.#running().cpuMs();
  }

  /** Starts the server and its clients, or starts them anew. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.stop();
    const { id, key } = WRITTEN;
    const init = { SPANHOUSE_INIT_PROJECT_ID: id, SPANHOUSE_INIT_API_KEY: key };
    this.#server = await startServerProcess({ dataDir: this.dataDir, env: { ...init, ...env } });
    this.#startTrickle();
  }

  async stop(): Promise<void> {
    await this.#stopTrickle();
    await this.#server?.stop();
    this.#server = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    for (const close of this.closers) await close();
  }

  /** Times work, after the clients went on alone for a while. @param clients of another server */
  async timed<T>(work: () => Promise<T>, clients: Watched = this.#clients()): Promise<{ result: T; timing: Timing }> {
    const quiet = await this.quiet(clients);
    const from = performance.now();
    const result = await work();
    const to = performance.now();
    return { result, timing: { seconds: (to - from) / 1000, quiet, meanwhile: clients.felt(from, to) } };
  }

  /** Work that is timed without clients, which go on behind it. */
  async alone<T>(work: () => Promise<T>): Promise<{ result: T; timing: Timing }> {
    await this.#stopTrickle();
    await this.#running().settled();
    const from = performance.now();
    const result = await work();
    const seconds = (performance.now() - from) / 1000;
    this.#startTrickle();
    return { result, timing: { seconds, quiet: NOBODY, meanwhile: NOBODY } };
  }

  /**
   * Takes in spans of {@link WRITTEN} in large requests from several clients, while no others are there, until lists, rollups and
   * the index of words have them.
   */
  async takeIn(spans: number): Promise<void> {
    const server = this.#running();
    const indexed = await server.metric(INDEXED);
    const bodies = requestBodies(TAKEN_IN_SEED, spans);
    this.#sent += spans / Trickle.SPANS;
    const target = { url: server.url, path: '/spans', key: WRITTEN.key, clients: REQUEST_CLIENTS };
    await sendLoad(bodies, target, () => undefined);
    this.#acknowledged += spans;
    await server.settled();
    while ((await server.metric(INDEXED)) < indexed + spans) await sleep(100);
  }

  async quiet(clients: Watched = this.#clients()): Promise<Felt> {
    const from = performance.now();
    await sleep(this.#quietMs);
    return clients.felt(from, performance.now());
  }

  /** @throws Error when a write of the clients is lost, or there is one that nobody sent */
  async requireWritten(): Promise<void> {
    await this.#stopTrickle();
    await this.#running().settled();
    const { totals } = await this.remote(WRITTEN).get<{ totals: { count: number } }>('/spans:stats');
    if (totals.count < this.#acknowledged || totals.count > this.#sent * Trickle.SPANS)
      throw new Error(`${totals.count} spans are stored of ${this.#acknowledged} that were acknowledged`);
  }

  #startTrickle(): void {
    this.#trickle = new Trickle(this.url, { writer: WRITTEN, reader: FILLED.large, sent: this.#sent });
  }

  async #stopTrickle(): Promise<void> {
    if (this.#trickle === undefined) return;
    await this.#trickle.stop();
    this.#sent = this.#trickle.sent;
    this.#acknowledged += this.#trickle.acknowledged;
    this.#trickle = undefined;
  }

  #running(): ServerProcess {
    if (this.#server === undefined) throw new Error('the server does not run');
    return this.#server;
  }

  #clients(): Trickle {
    if (this.#trickle === undefined) throw new Error('no clients are there');
    return this.#trickle;
  }
}

/** Runs a command of the admin program, which shows how far it is. @throws Error when it fails */
export async function admin<T>(
  dataDir: string,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  const child = spawn(process.execPath, [ADMIN, '--json', ...command], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number | null]>]);
  if (code !== 0) throw new Error(`npm run admin -- ${command[0] ?? ''} ended with ${String(code)}: ${output}`);
  return JSON.parse(output) as T;
}
