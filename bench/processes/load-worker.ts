import { Agent } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { call } from './call.js';

export interface LoadJob {
  readonly url: string;
  readonly key: string;
  readonly clients: number;
  /** Default: `/spans`. */
  readonly path?: string;
  /** Default: JSON. */
  readonly contentType?: string;
  readonly bodies: SharedArrayBuffer;
  readonly ends: readonly number[];
}

export interface LoadOutcome {
  /** From the first request to the last answer. */
  readonly ms: number;
  /** Time of each request, in milliseconds. */
  readonly latencies: readonly number[];
}

export type LoadMessage =
  | { readonly type: 'progress'; readonly requests: number }
  | { readonly type: 'done'; readonly outcome: LoadOutcome }
  | { readonly type: 'failed'; readonly reason: string };

const PROGRESS_EVERY_MS = 250;

const job = workerData as LoadJob;
const agent = new Agent({ keepAlive: true, maxSockets: job.clients });
const target = new URL(job.path ?? '/spans', job.url);
const latencies: number[] = [];
let next = 0;

const ticking = setInterval(() => {
  tell({ type: 'progress', requests: latencies.length });
}, PROGRESS_EVERY_MS);
try {
  const started = performance.now();
  await Promise.all(Array.from({ length: job.clients }, client));
  tell({ type: 'done', outcome: { ms: performance.now() - started, latencies } });
} catch (error) {
  tell({ type: 'failed', reason: String(error) });
} finally {
  clearInterval(ticking);
  agent.destroy();
}

/** Sends the next body that nobody has taken, until there is none. */
async function client(): Promise<void> {
  for (let index = next++; index < job.ends.length; index = next++) {
    const from = job.ends[index - 1] ?? 0;
    // A copy: sockets refuse memory that threads share.
    const body = Buffer.from(Buffer.from(job.bodies, from, (job.ends[index] ?? 0) - from));
    const started = performance.now();
    await post(body);
    latencies.push(performance.now() - started);
  }
}

async function post(body: Buffer): Promise<void> {
  const { key, contentType } = job;
  const type = contentType === undefined ? {} : { contentType };
  const { status, problem } = await call({ agent, target, key, body, ...type });
  if (status !== 200) throw new Error(`a request was answered ${status}: ${problem}`);
}

function tell(message: LoadMessage): void {
  parentPort?.postMessage(message);
}
