import { Worker } from 'node:worker_threads';
import type { LoadJob } from './load-worker.js';
import { outcomeOf, type LoadOutcome } from './sent-bodies.js';

export type { LoadOutcome } from './sent-bodies.js';

/** Request bodies, prepared before any clock starts, in memory that a worker thread shares. */
export class Bodies {
  readonly shared: SharedArrayBuffer;
  readonly ends: readonly number[];

  constructor(bodies: readonly Buffer[]) {
    this.shared = new SharedArrayBuffer(bodies.reduce((sum, { length }) => sum + length, 0));
    const target = new Uint8Array(this.shared);
    const ends: number[] = [];
    let end = 0;
    for (const body of bodies) {
      target.set(body, end);
      end += body.length;
      ends.push(end);
    }
    this.ends = ends;
  }

  get bytes(): number {
    return this.shared.byteLength;
  }

  /** A copy of one: sockets refuse memory that threads share. */
  at(index: number): Buffer {
    const from = this.ends[index - 1] ?? 0;
    return Buffer.from(Buffer.from(this.shared, from, (this.ends[index] ?? from) - from));
  }
}

/**
 * Sends every body once by `clients` clients, each with one connection and one request at a time, from a thread of its
 * own. Every answer is read to its end.
 * @throws Error when a request is answered otherwise than 200.
 */
export async function sendLoad(
  bodies: Bodies,
  target: Omit<LoadJob, 'bodies' | 'ends'>,
  onProgress: (requests: number) => void,
): Promise<LoadOutcome> {
  const job: LoadJob = { ...target, bodies: bodies.shared, ends: bodies.ends };
  return outcomeOf(new Worker(new URL('./load-worker.js', import.meta.url), { workerData: job }), onProgress);
}
