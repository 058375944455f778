import { setTimeout as sleep } from 'node:timers/promises';
import { startProgress } from '../scripts/progress.js';
import { SPANS_PER_TRACE } from './data.js';
import { bytesBelow } from './data-dir.js';
import { LONG_TRACE_SPANS, type PeerData, type PeerRequests } from './peers-data.js';
import { isDisconnected, reasonOf, type Peer } from './peer.js';
import { memoryOfTree } from './processes/process-tree.js';

const POLL_MS = 50;
const MEMORY_EVERY_MS = 500;
/** Of a product that is busy: as exporters of OpenTelemetry do, the request is sent again. */
const SEND_AGAIN_MS = 250;
const GIVE_UP_MS = 10 * 60_000;

/** A read, repeated. */
export interface TimedRead {
  readonly firstMs: number;
  /** Of the ones after it. */
  readonly againMs: readonly number[];
  readonly found: number;
}

/** A read; its failure in words; null: the product has no such call. */
export type Read = TimedRead | string | null;

export interface PeerFigures {
  readonly name: string;
  readonly version: string;
  readonly acceptedMs: number;
  readonly readableMs: number;
  /** Requests that were answered 429 or 5xx, or whose connection was closed: they were sent again. */
  readonly sentAgain: number;
  readonly tracesCounted: number | null;
  readonly reads: Readonly<Record<'list' | 'errors' | 'rareText' | 'commonText' | 'whole', Read>>;
  readonly memory: { readonly written: number; readonly most: number };
  /** On disk once the product has ended, less what it had before the first span. */
  readonly diskBytes: number;
}

/** Sends all, reads, and stops the product. */
export async function measurePeer(peer: Peer, data: PeerData, clients: number, rounds: number): Promise<PeerFigures> {
  const diskBefore = await bytesBelow(peer.folder);
  let most = 0;
  const watching = setInterval(() => (most = Math.max(most, memoryOfTree(peer.pid))), MEMORY_EVERY_MS);
  try {
    await write(peer, 'warm-up', data.warmUp, clients);
    const { acceptedMs, readableMs, sentAgain } = await write(peer, 'accepted', data.main, clients);
    const written = memoryOfTree(peer.pid);
    const timed = await readAll(peer, data, rounds);
    clearInterval(watching);
    const memory = { written, most: Math.max(most, written) };
    await peer.stop();
    const diskBytes = (await bytesBelow(peer.folder)) - diskBefore;
    return { name: peer.name, version: peer.version, acceptedMs, readableMs, sentAgain, ...timed, memory, diskBytes };
  } finally {
    clearInterval(watching);
    await peer.stop();
  }
}

/** Milliseconds until the last request was accepted, and until its last trace could be read. */
async function write(peer: Peer, label: string, { requests, lastTraces }: PeerRequests, clients: number) {
  const progress = startProgress(`${peer.name}, ${label}`, requests.length, 'requests');
  const started = performance.now();
  try {
    const sentAgain = await send(peer, requests, clients, (done) => {
      progress.update(done);
    });
    const acceptedMs = performance.now() - started;
    for (const trace of lastTraces) await readable(peer, trace, SPANS_PER_TRACE);
    return { acceptedMs, readableMs: performance.now() - started, sentAgain };
  } finally {
    progress.stop();
  }
}

async function send(peer: Peer, requests: readonly Buffer[], clients: number, onDone?: (done: number) => void) {
  const headers = { ...peer.otlp.headers, 'content-type': 'application/x-protobuf' };
  const left = requests.values();
  let sentAgain = 0;
  let done = 0;
  const client = async () => {
    for (const body of left) {
      const started = performance.now();
      for (;;) {
        const { status, answer } = await sendOnce(peer.otlp.url, { method: 'POST', headers, body });
        if (status === 200) break;
        if (performance.now() - started > GIVE_UP_MS || (status < 500 && status !== 429))
          throw new Error(`a request was answered ${status}: ${answer.slice(0, 300)}`);
        sentAgain += 1;
        await sleep(SEND_AGAIN_MS);
      }
      onDone?.((done += 1));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return sentAgain;
}

/** A connection that was closed counts as 503. */
async function sendOnce(url: string, init: RequestInit): Promise<{ readonly status: number; readonly answer: string }> {
  try {
    const response = await fetch(url, init);
    return { status: response.status, answer: await response.text() };
  } catch (error) {
    if (!isDisconnected(error)) throw error;
    return { status: 503, answer: reasonOf(error) };
  }
}

/** Resolves once all spans of a trace can be read. */
async function readable(peer: Peer, trace: string, spans: number): Promise<void> {
  const started = performance.now();
  let found = 0;
  while (found < spans) {
    found = await peer.spansOf(trace).catch(() => 0);
    if (found >= spans) return;
    if (performance.now() - started > GIVE_UP_MS)
      throw new Error(`of a trace of ${spans} spans, ${found} can be read after ten minutes`);
    await sleep(POLL_MS);
  }
}

async function readAll(peer: Peer, data: PeerData, rounds: number) {
  const { list, errors, text, whole } = peer.reads;
  const { id, requests } = data.longTrace;
  const progress = startProgress(`${peer.name}, reads`, 5, 'reads');
  let done = 0;
  const timed = async (read: (() => Promise<number>) | null) => {
    const outcome = read === null ? null : await timeRead(read, rounds);
    progress.update((done += 1));
    return outcome;
  };
  try {
    const ofLists = {
      list: await timed(list),
      errors: await timed(errors),
      rareText: await timed(text && (() => text(data.rareText))),
      commonText: await timed(text && (() => text(data.commonText))),
    };
    const tracesCounted = await peer.tracesCounted();
    const unsent = await send(peer, requests, 1)
      .then(() => readable(peer, id, LONG_TRACE_SPANS))
      .then(() => null, failureOf);
    return { tracesCounted, reads: { ...ofLists, whole: unsent ?? (await timed(whole && (() => whole(id)))) } };
  } finally {
    progress.stop();
  }
}

async function timeRead(read: () => Promise<number>, rounds: number): Promise<Read> {
  const times: number[] = [];
  let found = 0;
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const started = performance.now();
      found = await read();
      times.push(performance.now() - started);
    }
    const [firstMs = NaN, ...againMs] = times;
    return { firstMs, againMs, found };
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): string {
  return `failed: ${reasonOf(error).slice(0, 120)}`;
}
