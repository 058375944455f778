import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from './processes/call.js';
import type { Bodies } from './processes/load.js';

/** The single calls that are timed. */
export const CALLS = ['write of one span', 'spans of a trace', 'newest 50 traces'] as const;
export type CallName = (typeof CALLS)[number];

/** The project whose calls are timed. */
export interface Neighbour {
  readonly url: string;
  readonly key: string;
  /** Requests of one span, each sent once, until there are no more and they begin anew. */
  readonly writes: Bodies;
  /** Traces that it has. */
  readonly traceIds: readonly string[];
}

export interface Outcome {
  /** Of calls answered 200, to the last byte of the answer, in milliseconds. */
  readonly latencies: readonly number[];
  /** Of each call that failed the status, or the code of the error where no answer came, such as `ECONNRESET`. */
  readonly failures: readonly string[];
}

/** Enough for a server that is busy with others to have moments in which it is not busy with this. */
const PAUSE_MS = 20;
/** Longer than any time limit of the server. */
const TIMEOUT_MS = 60_000;

/** Makes the calls in turn, one at a time over one connection, for that many seconds; each at least once. */
export async function measureCalls(
  neighbour: Neighbour,
  seconds: number,
  onProgress: (seconds: number) => void,
): Promise<Record<CallName, Outcome>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const none = () => ({ latencies: new Array<number>(), failures: new Array<string>() });
  const outcomes = { 'write of one span': none(), 'spans of a trace': none(), 'newest 50 traces': none() };
  const started = performance.now();
  const passed = () => (performance.now() - started) / 1000;
  try {
    for (let round = 0; round === 0 || passed() < seconds; round += 1) {
      for (const name of CALLS) {
        const outcome = await timed(neighbour, name, round, agent);
        if (typeof outcome === 'number') outcomes[name].latencies.push(outcome);
        else outcomes[name].failures.push(outcome);
        await sleep(PAUSE_MS);
      }
      onProgress(passed());
    }
    return outcomes;
  } finally {
    agent.destroy();
  }
}

/** Milliseconds to the last byte, or what the call failed by. */
async function timed(
  { url, key, ...data }: Neighbour,
  name: CallName,
  round: number,
  agent: Agent,
): Promise<number | string> {
  const { path, body } = requestOf(data, name, round);
  const sent = { agent, target: new URL(path, url), key, timeoutMs: TIMEOUT_MS };
  const started = performance.now();
  try {
    const { status } = await call(body === undefined ? sent : { ...sent, body });
    return status === 200 ? performance.now() - started : String(status);
  } catch (error) {
    const { code, name: kind } = error as NodeJS.ErrnoException;
    return typeof code === 'string' ? code : kind;
  }
}

function requestOf({ writes, traceIds }: Pick<Neighbour, 'writes' | 'traceIds'>, name: CallName, round: number) {
  if (name === 'spans of a trace') return { path: `/spans?trace_id=${traceIds[round % traceIds.length] ?? ''}` };
  if (name === 'newest 50 traces') return { path: '/traces?limit=50' };
  return { path: '/spans', body: writes.at(round % writes.ends.length) };
}
