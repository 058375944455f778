import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Bodies } from './load.js';
import type { SteadyJob } from './steady-worker.js';

/** A load that goes on until it is told to stop, from a thread of its own. */
export interface SteadyLoad {
  /** Requests answered so far, and when that was, in milliseconds since 1970. */
  count(): Promise<{ readonly answered: number; readonly at: number }>;
  /** @throws Error when a request was answered otherwise than 200 */
  stop(): Promise<void>;
}

/** Sends the bodies again and again by `clients` clients, each time with other ids, a day later. */
export function startSteadyLoad(bodies: Bodies, target: Omit<SteadyJob, 'bodies' | 'ends'>): SteadyLoad {
  const job: SteadyJob = { ...target, bodies: bodies.shared, ends: bodies.ends };
  const worker = new Worker(new URL('./steady-worker.js', import.meta.url), { workerData: job });
  const ended = new Promise<void>((resolve, reject) => {
    worker.on('message', (message: { type: string; reason?: string }) => {
      if (message.type === 'done') resolve();
      if (message.type === 'failed') reject(new Error(message.reason));
    });
    worker.once('error', reject);
  });
  // A failure is told to whoever stops it.
  ended.catch(() => undefined);
  return {
    async count() {
      worker.postMessage('count');
      for (;;) {
        const [message] = (await Promise.race([once(worker, 'message'), ended.then(() => [{ type: 'ended' }])])) as [
          { type: string; answered: number; at: number },
        ];
        if (message.type === 'ended') throw new Error('the load has ended');
        if (message.type === 'count') return message;
      }
    },
    async stop() {
      worker.postMessage('stop');
      try {
        await ended;
      } finally {
        await worker.terminate();
      }
    },
  };
}
