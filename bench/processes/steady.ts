import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Bodies } from './load.js';
import type {
  SteadyCount,
  SteadyJob,
  SteadyMessage,
  SteadyReads,
  SteadyTarget,
  SteadyWrites,
} from './steady-worker.js';

/** A load that goes on until it is told to stop, from a thread of its own. */
export interface SteadyLoad {
  count(): Promise<SteadyCount>;
  /** @throws Error when a request was answered otherwise than 200 and the load is not refusable */
  stop(): Promise<void>;
}

/** Sends the bodies again and again by `clients` clients, each time with other ids, a day later. */
export function startSteadyLoad(
  { shared, ends }: Bodies,
  target: SteadyTarget,
  variation: Pick<SteadyWrites, 'repeated' | 'series'> = {},
): SteadyLoad {
  return start({ ...target, work: { bodies: shared, ends, ...variation } });
}

/** Asks for the paths again and again by `clients` clients, each with one connection. */
export function startSteadyReads(work: SteadyReads, target: SteadyTarget): SteadyLoad {
  return start({ ...target, work });
}

function start(job: SteadyJob): SteadyLoad {
  const worker = new Worker(new URL('./steady-worker.js', import.meta.url), { workerData: job });
  const ended = new Promise<void>((resolve, reject) => {
    worker.on('message', (message: SteadyMessage) => {
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
        const [message] = (await Promise.race([once(worker, 'message'), ended.then(() => [{ type: 'done' }])])) as [
          SteadyMessage,
        ];
        if (message.type === 'done') throw new Error('the load has ended');
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
