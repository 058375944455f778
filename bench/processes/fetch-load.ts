import { Worker } from 'node:worker_threads';
import { startProgress } from '../../scripts/progress.js';
import type { FetchJob, FetchMessage, FetchOutcome } from './fetch-worker.js';
import type { Bodies } from './load.js';

export type { FetchOutcome } from './fetch-worker.js';

export type FetchTarget = Pick<FetchJob, 'url' | 'clients' | 'perSecond'> &
  Partial<Pick<FetchJob, 'key' | 'contentType'>>;

/**
 * Sends every body once with `fetch`, from a thread of its own, and reads every answer to its end.
 * @param target `url`: the whole address that is sent to
 * @throws Error when a request is answered otherwise than 2xx
 */
export async function fetchLoad(label: string, bodies: Bodies, target: FetchTarget): Promise<FetchOutcome> {
  const job: FetchJob = {
    key: '',
    contentType: 'application/json',
    ...target,
    bodies: bodies.shared,
    ends: bodies.ends,
  };
  const progress = startProgress(label, bodies.ends.length, 'requests');
  const worker = new Worker(new URL('./fetch-worker.js', import.meta.url), { workerData: job });
  try {
    const outcome = await new Promise<FetchOutcome>((resolve, reject) => {
      worker.on('message', (message: FetchMessage) => {
        if (message.type === 'progress') progress.update(message.requests);
        else if (message.type === 'done') resolve(message.outcome);
        else reject(new Error(message.reason));
      });
      worker.once('error', reject);
    });
    progress.update(bodies.ends.length);
    return outcome;
  } finally {
    progress.stop();
    await worker.terminate();
  }
}
