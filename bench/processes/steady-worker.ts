import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { call } from './call.js';

/** Bodies that are sent to `/spans` again and again. */
export interface SteadyWrites {
  readonly bodies: SharedArrayBuffer;
  readonly ends: readonly number[];
  /** Share of the requests, below 1, that repeat one sent before in this load to the byte. Default: none. */
  readonly repeated?: number;
  /** Loads of the same bodies with different numbers send different ids. Default: 0. */
  readonly series?: number;
}

/** Paths that are asked for in turn. */
export interface SteadyReads {
  readonly paths: readonly string[];
  /** Each connection reads no faster than this. Default: as fast as answers come. */
  readonly bytesPerSecond?: number;
}

export interface SteadyTarget {
  readonly url: string;
  readonly key: string;
  readonly clients: number;
  /** Requests a second, over all clients, as far as they can. Default: as many as they can. */
  readonly perSecond?: number;
  /**
   * Whether the load goes on, and counts it, when a request is answered otherwise than 200 or its connection ends. When
   * such a load is told to stop it gives up what is under way. Default: false.
   */
  readonly refusable?: boolean;
}

export type SteadyJob = SteadyTarget & { readonly work: SteadyWrites | SteadyReads };

/** Counts of a load so far. */
export interface SteadyCount {
  readonly answered: number;
  readonly refused: number;
  /** Bytes of answers' bodies, also of those that are not whole yet. */
  readonly bytesRead: number;
  /** When that was, in milliseconds since 1970. */
  readonly at: number;
}

export type SteadyMessage =
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly reason: string }
  | ({ readonly type: 'count' } & SteadyCount);

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const DATE = /\d{4}-\d\d-\d\d(?=T\d\d:\d\d:\d\d)/g;
const DAY_MS = 86_400_000;
/** Odd, so that the products with different whole numbers differ in 32 bits; spreads numbers that are close. */
const SPREAD = 0x9e3779b1;
/** More laps than a load has. */
const LAPS_OF_SERIES = 65_536;
/** After a connection that ended, so that a server that is gone is not asked without a pause. */
const RECONNECT_MS = 100;
/** Requests that are later than this are not made up for. */
const MAX_LAG_MS = 100;

const { url, key, clients, perSecond = Infinity, refusable = false, work } = workerData as SteadyJob;
const agent = new Agent({ keepAlive: true, maxSockets: clients });
const requestOf = 'paths' in work ? reads(work) : writes(work);
let sent = 0;
let answered = 0;
let refused = 0;
let bytesRead = 0;
let stopping = false;
/** When the next request may be sent. */
let nextAt = 0;

parentPort?.on('message', (message: 'count' | 'stop') => {
  if (message === 'count')
    tell({ type: 'count', answered, refused, bytesRead, at: performance.timeOrigin + performance.now() });
  else {
    stopping = true;
    if (refusable) agent.destroy();
  }
});
try {
  await Promise.all(Array.from({ length: clients }, client));
  tell({ type: 'done' });
} catch (error) {
  tell({ type: 'failed', reason: String(error) });
} finally {
  agent.destroy();
  parentPort?.removeAllListeners();
}

/** Sends requests one after another until it is told to stop. */
async function client(): Promise<void> {
  while (!stopping) {
    const slot = Math.max(nextAt, performance.now() - MAX_LAG_MS);
    nextAt = slot + 1000 / perSecond;
    if (slot > performance.now()) await sleep(slot - performance.now());
    try {
      const { status, problem } = await call({ agent, key, onBytes: countBytes, ...requestOf(sent++) });
      if (status === 200) answered += 1;
      else if (refusable) refused += 1;
      else throw new Error(`a request was answered ${status}: ${problem}`);
    } catch (error) {
      if (!refusable) throw error;
      if (stopping) return;
      refused += 1;
      await sleep(RECONNECT_MS);
    }
  }
}

function countBytes(bytes: number): void {
  bytesRead += bytes;
}

function reads({ paths, bytesPerSecond }: SteadyReads) {
  const slowly = bytesPerSecond === undefined ? {} : { bytesPerSecond };
  return (number: number) => ({ target: new URL(paths[number % paths.length] ?? '/', url), ...slowly });
}

/** Bodies in laps that differ in their ids and dates, some of them once more as they were. */
function writes({ bodies, ends, repeated = 0, series = 0 }: SteadyWrites) {
  const target = new URL('/spans', url);
  const all = Buffer.from(bodies);
  /** Where UUIDs and dates of a body begin: in each lap they are others, the same for the same. */
  const places = ends.map((end, index) => {
    const text = all.toString('latin1', ends[index - 1] ?? 0, end);
    const starts = (pattern: RegExp) => Uint32Array.from([...text.matchAll(pattern)].map(({ index: at }) => at));
    return { ids: starts(UUID), dates: starts(DATE) };
  });
  const bodyOf = (index: number, lap: number) => {
    const body = Buffer.from(all.subarray(ends[index - 1] ?? 0, ends[index]));
    const mask = Math.imul(lap + series * LAPS_OF_SERIES, SPREAD);
    for (const place of places[index]?.dates ?? []) {
      const date = Date.parse(body.toString('latin1', place, place + 10)) + lap * DAY_MS;
      body.write(new Date(date).toISOString().slice(0, 10), place, 'latin1');
    }
    for (const place of places[index]?.ids ?? []) {
      const digits = parseInt(body.toString('latin1', place, place + 8), 16);
      body.write(((digits ^ mask) >>> 0).toString(16).padStart(8, '0'), place, 'latin1');
    }
    return body;
  };
  return (number: number) => {
    const content = contentOf(number, repeated);
    return { target, body: bodyOf(content % ends.length, Math.floor(content / ends.length)) };
  };
}

/**
 * The contents of requests are numbered as they are first sent. A repetition has those of any request before, so that
 * most of what is sent again lies in an old commit.
 */
function contentOf(number: number, repeated: number): number {
  const repetitions = Math.floor(number * repeated);
  const fresh = number - repetitions;
  const repeats = Math.floor((number + 1) * repeated) > repetitions;
  return repeats ? (Math.imul(number, SPREAD) >>> 0) % fresh : fresh;
}

function tell(message: SteadyMessage): void {
  parentPort?.postMessage(message);
}
