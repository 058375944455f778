import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateTrace, SPANS_PER_TRACE } from './data.js';
import { figure, percentile } from './figures.js';
import { call } from './processes/call.js';
import type { Project } from './years-data.js';

/** Each client sends the next request this long after the one before, or at once when that took longer. */
const EVERY_MS = 200;
const TIMEOUT_MS = 60_000;
const READS = ['/traces?limit=50', '/spans?limit=50', '/sessions?limit=50'];
const SEED = 4711;

interface Sample {
  readonly kind: 'write' | 'read';
  /** When it was sent, on the clock of `performance`. */
  readonly at: number;
  /** Milliseconds to the last byte; what else it failed by. */
  readonly took: number | string;
}

/** What clients felt in some time. */
export interface Felt {
  readonly writes: readonly number[];
  readonly reads: readonly number[];
  readonly failures: readonly string[];
}

export interface Clients {
  /** The project that one writes traces to. */
  readonly writer: Project;
  /** The project whose lists the other reads. */
  readonly reader: Project;
  /** Traces that earlier ones sent: each sends others. */
  readonly sent?: number;
}

/** Two clients all the time: one writes, one reads. */
export class Trickle {
  /** Of each write. */
  static readonly SPANS = SPANS_PER_TRACE;
  readonly #url: string;
  readonly #writer: Project;
  readonly #reader: Project;
  readonly #samples: Sample[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 2 });
  readonly #clients: Promise<unknown>;
  #stopping = false;
  #acknowledged = 0;
  #sent: number;

  constructor(url: string, { writer, reader, sent = 0 }: Clients) {
    this.#url = url;
    this.#writer = writer;
    this.#reader = reader;
    this.#sent = sent;
    this.#clients = Promise.all([this.#client('write'), this.#client('read')]);
  }

  /** Spans that are stored for certain. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  get sent(): number {
    return this.#sent;
  }

  /** What was felt by calls sent in this time, on the clock of `performance`. */
  felt(from: number, to: number): Felt {
    const within = this.#samples.filter(({ at }) => at >= from && at < to);
    const of = (kind: Sample['kind']) =>
      within.flatMap((sample) => (sample.kind === kind && typeof sample.took === 'number' ? [sample.took] : []));
    const failures = within.flatMap(({ kind, took }) => (typeof took === 'string' ? [`${kind} ${took}`] : []));
    return { writes: of('write'), reads: of('read'), failures };
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#clients;
    this.#agent.destroy();
  }

  async #client(kind: Sample['kind']): Promise<void> {
    for (let round = 0; !this.#stopping; round += 1) {
      const at = performance.now();
      const took = await (kind === 'write' ? this.#write() : this.#read(round));
      this.#samples.push({ kind, at, took });
      await sleep(Math.max(0, at + EVERY_MS - performance.now()));
    }
  }

  async #write(): Promise<number | string> {
    const now = new Date().toISOString();
    const spans = generateTrace(SEED, this.#sent).map((span) => ({ ...span, started_at: now, ended_at: now }));
    this.#sent += 1;
    const took = await this.#timed(this.#writer, '/spans', Buffer.from(JSON.stringify(spans)));
    if (typeof took === 'number') this.#acknowledged += spans.length;
    return took;
  }

  #read(round: number): Promise<number | string> {
    return this.#timed(this.#reader, READS[round % READS.length] ?? '/traces');
  }

  async #timed({ key }: Project, path: string, body?: Buffer): Promise<number | string> {
    const sent = { agent: this.#agent, target: new URL(path, this.#url), key, timeoutMs: TIMEOUT_MS };
    const started = performance.now();
    try {
      const { status } = await call(body === undefined ? sent : { ...sent, body });
      return status === 200 ? performance.now() - started : String(status);
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException;
      return code ?? name;
    }
  }
}

/** p50 and p95 in the quiet, and meanwhile, as a cell of the table. */
export function times(quiet: readonly number[], meanwhile: readonly number[]): string {
  const shares = (latencies: readonly number[]) =>
    [50, 95].map((share) => figure(percentile(latencies, share))).join(' / ');
  return `${shares(quiet)} → ${shares(meanwhile)}`;
}
