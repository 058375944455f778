import { Worker } from 'node:worker_threads';
import { startProgress } from '../../scripts/progress.js';
import type { FetchJob } from './fetch-worker.js';
import type { Bodies } from './load.js';
import { outcomeOf, type LoadOutcome } from './sent-bodies.js';

export type FetchTarget = Pick<FetchJob, 'url' | 'clients' | 'perSecond'> &
  Partial<Pick<FetchJob, 'key' | 'contentType'>>;

/**
 * Sends every body once with `fetch`, from a thread of its own, and reads every answer to its end.
 * @param target `url`: the whole address that is sent to
 * @throws Error when a request is answered otherwise than 2xx
 */
export async function fetchLoad(label: string, bodies: Bodies, target: FetchTarget): Promise<LoadOutcome> {
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
    const outcome = await outcomeOf(worker, (requests) => progress.update(requests));
    progress.update(bodies.ends.length);
    return outcome;
  } finally {
    progress.stop();
  }
}
