import { parentPort, type Worker } from 'node:worker_threads';

/** Bodies that a thread sends, once each, by clients of one request at a time. */
export interface SentBodies {
  readonly clients: number;
  readonly bodies: SharedArrayBuffer;
  readonly ends: readonly number[];
}

export interface LoadOutcome {
  /** From the first request to the last answer. */
  readonly ms: number;
  /** Milliseconds of each request, from its being sent to the last byte of its answer. */
  readonly latencies: readonly number[];
}

type LoadMessage =
  | { readonly type: 'progress'; readonly requests: number }
  | { readonly type: 'done'; readonly outcome: LoadOutcome }
  | { readonly type: 'failed'; readonly reason: string };

const PROGRESS_EVERY_MS = 250;

/**
 * In the thread: sends all bodies, and tells who waits in {@link outcomeOf}.
 * @param send rejects when an answer is not as it should be
 * @param due resolves when the request of this number may begin; default: at once
 */
export async function sendAll(
  { clients, bodies, ends }: SentBodies,
  send: (body: Buffer) => Promise<void>,
  due: (index: number) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const latencies: number[] = [];
  let next = 0;
  /** Sends the next body that nobody has taken, until there is none. */
  const client = async () => {
    for (let index = next++; index < ends.length; index = next++) {
      await due(index);
      const from = ends[index - 1] ?? 0;
      // A copy: sockets refuse memory that threads share.
      const body = Buffer.from(Buffer.from(bodies, from, (ends[index] ?? 0) - from));
      const started = performance.now();
      await send(body);
      latencies.push(performance.now() - started);
    }
  };
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
}

function tell(message: LoadMessage): void {
  parentPort?.postMessage(message);
}

/** Waits for a thread that calls {@link sendAll}, and ends it. @throws Error when a request failed */
export async function outcomeOf(worker: Worker, onProgress: (requests: number) => void): Promise<LoadOutcome> {
  try {
    return await new Promise((resolve, reject) => {
      worker.on('message', (message: LoadMessage) => {
        if (message.type === 'progress') onProgress(message.requests);
        else if (message.type === 'done') resolve(message.outcome);
        else reject(new Error(message.reason));
      });
      worker.once('error', reject);
    });
  } finally {
    await worker.terminate();
  }
}
