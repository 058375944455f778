import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

export interface SteadyJob {
  readonly url: string;
  readonly key: string;
  readonly clients: number;
  readonly bodies: SharedArrayBuffer;
  readonly ends: readonly number[];
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const DATE = /\d{4}-\d\d-\d\d(?=T\d\d:\d\d:\d\d)/g;
const DAY_MS = 86_400_000;

const { url, key, clients, bodies, ends } = workerData as SteadyJob;
const agent = new Agent({ keepAlive: true, maxSockets: clients });
const target = new URL('/spans', url);
const all = Buffer.from(bodies);
/** Where UUIDs and dates of a body begin: in each lap they are others, the same for the same. */
const places = ends.map((end, index) => {
  const text = all.toString('latin1', ends[index - 1] ?? 0, end);
  const starts = (pattern: RegExp) => Uint32Array.from([...text.matchAll(pattern)].map(({ index: at }) => at));
  return { ids: starts(UUID), dates: starts(DATE) };
});
let sent = 0;
let answered = 0;
let stopping = false;

parentPort?.on('message', (message: 'count' | 'stop') => {
  if (message === 'stop') stopping = true;
  else parentPort?.postMessage({ type: 'count', answered, at: performance.timeOrigin + performance.now() });
});
try {
  await Promise.all(Array.from({ length: clients }, client));
  parentPort?.postMessage({ type: 'done' });
} catch (error) {
  parentPort?.postMessage({ type: 'failed', reason: String(error) });
} finally {
  agent.destroy();
  parentPort?.removeAllListeners();
}

/** Sends bodies one after another, in laps that differ in their ids and dates, until it is told to stop. */
async function client(): Promise<void> {
  while (!stopping) {
    const number = sent++;
    await post(bodyOf(number % ends.length, Math.floor(number / ends.length)));
    answered += 1;
  }
}

function bodyOf(index: number, lap: number): Buffer {
  const body = Buffer.from(all.subarray(ends[index - 1] ?? 0, ends[index]));
  const mask = Math.imul(lap, 0x9e3779b1);
  for (const place of places[index]?.dates ?? []) {
    const date = Date.parse(body.toString('latin1', place, place + 10)) + lap * DAY_MS;
    body.write(new Date(date).toISOString().slice(0, 10), place, 'latin1');
  }
  for (const place of places[index]?.ids ?? []) {
    const digits = parseInt(body.toString('latin1', place, place + 8), 16);
    body.write(((digits ^ mask) >>> 0).toString(16).padStart(8, '0'), place, 'latin1');
  }
  return body;
}

function post(body: Buffer): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const sending = request(target, { method: 'POST', agent, headers }, (response) => {
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`a request was answered ${String(response.statusCode)}`));
      });
      response.resume();
    });
    sending.on('error', reject);
    sending.end(body);
  });
}
