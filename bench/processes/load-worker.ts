import { Agent } from 'node:http';
import { workerData } from 'node:worker_threads';
import { call } from './call.js';
import { sendAll, type SentBodies } from './sent-bodies.js';

export interface LoadJob extends SentBodies {
  readonly url: string;
  readonly key: string;
  /** Default: `/spans`. */
  readonly path?: string;
  /** Default: JSON. */
  readonly contentType?: string;
}

const job = workerData as LoadJob;
const agent = new Agent({ keepAlive: true, maxSockets: job.clients });
const target = new URL(job.path ?? '/spans', job.url);

await sendAll(job, post);
agent.destroy();

async function post(body: Buffer): Promise<void> {
  const { key, contentType } = job;
  const type = contentType === undefined ? {} : { contentType };
  const { status, problem } = await call({ agent, target, key, body, ...type });
  // A batch of events is answered 207, with those that are refused at its end.
  const isTaken = status === 200 || (status === 207 && problem.endsWith('"errors":[]}'));
  if (!isTaken) throw new Error(`a request was answered ${status}: ${problem}`);
}
