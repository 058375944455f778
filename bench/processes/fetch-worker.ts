import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** Bodies that are sent once each, by `fetch` with its own headers. */
export interface FetchJob {
  readonly url: string;
  readonly key: string;
  readonly clients: number;
  /** Requests a second that are begun, as far as there is a client free. Default: as many as the clients can. */
  readonly perSecond?: number;
  readonly contentType: string;
  readonly bodies: SharedArrayBuffer;
  readonly ends: readonly number[];
}

export interface FetchOutcome {
  /** From the first request to the last answer. */
  readonly ms: number;
  /** Milliseconds of each request, from its being sent to the last byte of its answer. */
  readonly latencies: readonly number[];
}

export type FetchMessage =
  | { readonly type: 'progress'; readonly requests: number }
  | { readonly type: 'done'; readonly outcome: FetchOutcome }
  | { readonly type: 'failed'; readonly reason: string };

const PROGRESS_EVERY_MS = 250;

const { url, key, clients, perSecond = Infinity, contentType, bodies, ends } = workerData as FetchJob;
const headers = { authorization: `Bearer ${key}`, 'content-type': contentType };
const latencies: number[] = [];
let next = 0;

const ticking = setInterval(() => {
  tell({ type: 'progress', requests: latencies.length });
}, PROGRESS_EVERY_MS);
const began = performance.now();
try {
  await Promise.all(Array.from({ length: clients }, client));
  tell({ type: 'done', outcome: { ms: performance.now() - began, latencies } });
} catch (error) {
  tell({ type: 'failed', reason: String(error) });
} finally {
  clearInterval(ticking);
}

/** Sends the next body that nobody has taken, until there is none. */
async function client(): Promise<void> {
  for (let index = next++; index < ends.length; index = next++) {
    const due = began + (index / perSecond) * 1000;
    if (due > performance.now()) await sleep(due - performance.now());
    const from = ends[index - 1] ?? 0;
    // A copy: sockets refuse memory that threads share.
    const body = Buffer.from(Buffer.from(bodies, from, (ends[index] ?? 0) - from));
    const started = performance.now();
    const response = await fetch(url, { method: 'POST', headers, body });
    const answer = await response.arrayBuffer();
    latencies.push(performance.now() - started);
    if (!response.ok)
      throw new Error(`a request was answered ${response.status}: ${Buffer.from(answer).toString('utf8', 0, 500)}`);
  }
}

function tell(message: FetchMessage): void {
  parentPort?.postMessage(message);
}
