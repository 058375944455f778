import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgress } from '../scripts/progress.js';
import { SINGLE_CLIENTS, singleBodies } from './bodies.js';
import { SPANS_PER_TRACE } from './data.js';
import { bodiesOfSpans, oneSpanTraces } from './log-bodies.js';
import { fetchLoad } from './processes/fetch-load.js';
import type { Bodies, LoadOutcome } from './processes/load.js';
import { startProgram, startServerProcess, type ProcessorTime, type ServerProcess } from './processes/server.js';

const APPENDING = fileURLToPath(new URL('./processes/appending-server.js', import.meta.url));
/** Of the steady load. */
export const STEADY = { spansPerSecond: 2_000, spansEach: 20, clients: 32 };
/** Of the burst before the first read of a list. */
export const BURST = { tracesEach: 1_000, clients: 4 };
/** Of one client, before any figure. */
export const WARM_UP_REQUESTS = 200;

export interface ServerOptions {
  readonly lone: number;
  readonly singles: number;
  readonly seconds: number;
  readonly traces: number;
  readonly seed: number;
}

/** Measurements of one repetition. */
export interface ServerRun {
  readonly lone: LoadOutcome;
  /** Milliseconds of each write and fdatasync of the same bodies to a file, before and after the lone client. */
  readonly syncs: readonly number[];
  readonly singles: LoadOutcome & { readonly cpu: ProcessorTime };
  readonly plainSingles: LoadOutcome & { readonly cpu: ProcessorTime };
  readonly steady: LoadOutcome & { readonly cpu: ProcessorTime };
  readonly burst: { readonly writeMs: number; readonly firstReadMs: number; readonly secondReadMs: number };
}

/** Measures the server on empty data. */
export async function measureServer(options: ServerOptions, plainFirst: boolean): Promise<ServerRun> {
  const directory = await mkdtemp(join(tmpdir(), 'spanhouse-bench-'));
  try {
    const singles = singleBodies(options.seed + 1, options.singles);
    const plain = () => measurePlain(join(directory, 'appended'), singles);
    const early = plainFirst ? await plain() : null;
    const server = await startServerProcess({ dataDir: join(directory, 'server') });
    try {
      const measured = await measureWrites(server, options, singles, join(directory, 'synced'));
      const burst = await measureBurst(server, options.seed + 3, options.traces);
      await server.stop();
      return { ...measured, burst, plainSingles: early ?? (await plain()) };
    } finally {
      await server.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function measureWrites(server: ServerProcess, options: ServerOptions, singles: Bodies, synced: string) {
  const url = `${server.url}/spans`;
  const target = { url, key: server.key };
  const load = async (label: string, bodies: Bodies, clients: number, perSecond?: number) => {
    await server.settled();
    const before = server.cpuMs();
    const outcome = await fetchLoad(label, bodies, {
      ...target,
      clients,
      ...(perSecond !== undefined && { perSecond }),
    });
    // With what it leaves to be done.
    await server.settled();
    const after = server.cpuMs();
    return { ...outcome, cpu: { server: after.server - before.server, engine: after.engine - before.engine } };
  };
  const ofLone = bodiesOfSpans(options.seed, options.lone, SPANS_PER_TRACE);
  // A fresh server is slow at first: code that has never run.
  await load('warm-up', bodiesOfSpans(options.seed + 4, WARM_UP_REQUESTS, SPANS_PER_TRACE), 1);
  const syncsBefore = await timeSyncs(synced, ofLone);
  const lone = await load('lone client', ofLone, 1);
  const syncs = [...syncsBefore, ...(await timeSyncs(synced, ofLone))];
  const many = await load('64 clients', singles, SINGLE_CLIENTS);
  const perSecond = STEADY.spansPerSecond / STEADY.spansEach;
  const ofSteady = bodiesOfSpans(options.seed + 2, options.seconds * perSecond, STEADY.spansEach);
  const steady = await load('steady load', ofSteady, STEADY.clients, perSecond);
  return { lone, syncs, singles: many, steady };
}

/** Writes each body to the end of a file and syncs it, one after another. */
async function timeSyncs(path: string, bodies: Bodies): Promise<number[]> {
  const file = await open(path, 'w');
  const times: number[] = [];
  try {
    for (let index = 0; index < bodies.ends.length; index += 1) {
      const body = bodies.at(index);
      const started = performance.now();
      await file.write(body);
      await file.datasync();
      times.push(performance.now() - started);
    }
    return times;
  } finally {
    await file.close();
  }
}

/** The plain server's own process, with the clients and bodies of the server's. */
async function measurePlain(path: string, singles: Bodies): Promise<ServerRun['plainSingles']> {
  const plain = await startProgram([APPENDING, path], {});
  try {
    const before = plain.cpuMs();
    const outcome = await fetchLoad('64 clients, plain server', singles, { url: plain.url, clients: SINGLE_CLIENTS });
    return { ...outcome, cpu: { server: plain.cpuMs().server - before.server, engine: 0 } };
  } finally {
    await plain.stop();
  }
}

/** Writes traces of one span each, and reads the newest ones at once, then again. */
async function measureBurst(server: ServerProcess, seed: number, traces: number): Promise<ServerRun['burst']> {
  const authorization = { authorization: `Bearer ${server.key}` };
  const headers = { ...authorization, 'content-type': 'application/json' };
  const bodies = oneSpanTraces(seed, traces, BURST.tracesEach);
  const progress = startProgress('one-span traces', traces, 'traces');
  let sent = 0;
  const client = async () => {
    for (const body of bodies) {
      const response = await fetch(`${server.url}/spans`, { method: 'POST', headers, body });
      const answer = await response.text();
      if (!response.ok) throw new Error(`a write was answered ${response.status}: ${answer.slice(0, 500)}`);
      progress.update((sent += BURST.tracesEach));
    }
  };
  const read = async () => {
    const started = performance.now();
    const response = await fetch(`${server.url}/traces?limit=50`, { headers: authorization });
    const answer = await response.text();
    if (!response.ok) throw new Error(`the list was answered ${response.status}: ${answer.slice(0, 500)}`);
    return performance.now() - started;
  };
  const started = performance.now();
  try {
    await Promise.all(Array.from({ length: BURST.clients }, client));
  } finally {
    progress.stop();
  }
  const writeMs = performance.now() - started;
  return { writeMs, firstReadMs: await read(), secondReadMs: await read() };
}
