import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { sendAll, type SentBodies } from './sent-bodies.js';

/** Bodies that are sent by `fetch` with its own headers. */
export interface FetchJob extends SentBodies {
  readonly url: string;
  readonly key: string;
  /** Requests a second that are begun, as far as there is a client free. Default: as many as the clients can. */
  readonly perSecond?: number;
  readonly contentType: string;
}

const job = workerData as FetchJob;
const { url, key, perSecond = Infinity, contentType } = job;
const headers = { authorization: `Bearer ${key}`, 'content-type': contentType };
const began = performance.now();

await sendAll(job, post, async (index) => {
  const due = began + (index / perSecond) * 1000;
  if (due > performance.now()) await sleep(due - performance.now());
});

async function post(body: Buffer): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers, body });
  const answer = await response.arrayBuffer();
  if (!response.ok)
    throw new Error(`a request was answered ${response.status}: ${Buffer.from(answer).toString('utf8', 0, 500)}`);
}
