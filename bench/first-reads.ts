import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProgress } from '../scripts/progress.js';
import { singleBodies } from './bodies.js';
import { generateTrace } from './data.js';
import { median } from './figures.js';
import { Bodies } from './processes/load.js';
import type { ServerProcess } from './processes/server.js';
import { timeCall, type TimedCall } from './timed-calls.js';
import { fill } from './two-projects.js';

/** Before each read that is timed, whether something is written right before it or not. */
const PAUSE_MS = 200;
const TRACES_PER_REQUEST = 1_000;
/** Traces whose first spans are sent again and again as traces of their own. */
const POOL_TRACES = 3_000;

/** Times of reading the newest 50 traces, in milliseconds. NaN where no read was answered. */
export interface FirstReads {
  /** Medians of the reads right after a write of one span, and of as many in turn with them after nothing. */
  readonly afterWrite: number;
  readonly afterNothing: number;
  readonly afterBurst: number;
}

/** Times the first read after one write, after many, and after none. */
export async function timeFirstReads(
  server: ServerProcess,
  { seed, rounds, burst }: { readonly seed: number; readonly rounds: number; readonly burst: number },
): Promise<FirstReads> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const read: TimedCall = { name: 'traces, newest 50', request: () => ({ path: '/traces?limit=50' }) };
  const once = async () => {
    const outcome = await timeCall(server, read, 0, agent);
    return typeof outcome === 'number' ? outcome : NaN;
  };
  try {
    const medians = await inTurn(server, singleBodies(seed, rounds), agent, once);
    await server.settled();
    await fill(server, 'burst', server.key, burstOf(seed + 1, burst));
    return { ...medians, afterBurst: await once() };
  } finally {
    agent.destroy();
  }
}

async function inTurn(server: ServerProcess, bodies: Bodies, agent: Agent, once: () => Promise<number>) {
  const rounds = bodies.ends.length;
  const write: TimedCall = { name: 'write', request: (round) => ({ path: '/spans', body: bodies.at(round) }) };
  const afterWrite: number[] = [];
  const afterNothing: number[] = [];
  const rested = async () => {
    await server.settled();
    await sleep(PAUSE_MS);
  };
  const progress = startProgress('first reads', rounds, 'rounds');
  try {
    for (let round = 0; round < rounds; round += 1) {
      await rested();
      const written = await timeCall(server, write, round, agent);
      if (typeof written === 'string') throw new Error(`a write before a first read failed: ${written}`);
      afterWrite.push(await once());
      await rested();
      afterNothing.push(await once());
      progress.update(round + 1);
    }
  } finally {
    progress.stop();
  }
  return { afterWrite: median(afterWrite), afterNothing: median(afterNothing) };
}

/** Traces of one span, a thousand a request. */
function burstOf(seed: number, traces: number): Bodies {
  const roots = Array.from(
    { length: Math.min(POOL_TRACES, traces) },
    (_none, number) => generateTrace(seed, number)[0],
  );
  const spanOf = (number: number) => ({
    ...roots[number % roots.length],
    id: undefined,
    trace_id: `0197f3a0-0000-7000-9000-${number.toString(16).padStart(12, '0')}`,
  });
  return new Bodies(
    Array.from({ length: Math.ceil(traces / TRACES_PER_REQUEST) }, (_none, request) => {
      const first = request * TRACES_PER_REQUEST;
      const length = Math.min(TRACES_PER_REQUEST, traces - first);
      return Buffer.from(JSON.stringify(Array.from({ length }, (_span, at) => spanOf(first + at))));
    }),
  );
}
