import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { figure, percentile } from './figures.js';
import { call } from './processes/call.js';

/** A call that is made again and again, and timed. */
export interface TimedCall {
  readonly name: string;
  /** The request of a round; with a body it is a POST. */
  readonly request: (round: number) => { readonly path: string; readonly body?: Buffer };
}

/** Who makes the calls, of which server. */
export interface Caller {
  readonly url: string;
  readonly key: string;
}

export interface Outcome {
  readonly name: string;
  /** Times of calls answered 200, to the last byte of the answer, in milliseconds. */
  readonly latencies: readonly number[];
  /** Status of each failed call, or its error code, such as `ECONNRESET`, where no answer came. */
  readonly failures: readonly string[];
}

/** After each call: enough for a server that is busy with others to have moments in which it is not busy with this. */
const PAUSE_MS = 20;
const ROUNDS_BETWEEN_CLIENTS = 97;
/** Longer than any time limit of the server. */
const TIMEOUT_MS = 60_000;

/**
 * Times calls as timeCalls does, by several clients at once. Each asks in another order and for other rounds, so that they
 * do not ask for the same at the same time.
 */
export async function timeClients(
  caller: Caller,
  calls: readonly TimedCall[],
  { clients, seconds, pauseMs }: { readonly clients: number; readonly seconds: number; readonly pauseMs?: number },
  onProgress: (seconds: number) => void,
): Promise<Outcome[]> {
  const callsOf = (client: number) =>
    calls.map((_none, at) => {
      const { name, request } = calls[(at + client) % calls.length] as TimedCall;
      return { name, request: (round: number) => request(round + client * ROUNDS_BETWEEN_CLIENTS) };
    });
  const turns = Array.from({ length: clients }, (_none, client) =>
    timeCalls(caller, callsOf(client), seconds, onProgress, pauseMs),
  );
  const outcomes = (await Promise.all(turns)).flat();
  return calls.map(({ name }) => {
    const own = outcomes.filter((outcome) => outcome.name === name);
    return {
      name,
      latencies: own.flatMap(({ latencies }) => latencies),
      failures: own.flatMap(({ failures }) => failures),
    };
  });
}

/**
 * Makes the calls in turn, one at a time over one connection, for that many seconds; each at least once. Without any it
 * lets the time pass.
 */
async function timeCalls(
  caller: Caller,
  calls: readonly TimedCall[],
  seconds: number,
  onProgress: (seconds: number) => void,
  pauseMs = PAUSE_MS,
): Promise<Outcome[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const outcomes = calls.map((each) => ({ each, latencies: new Array<number>(), failures: new Array<string>() }));
  const started = performance.now();
  const passed = () => (performance.now() - started) / 1000;
  try {
    for (let round = 0; round === 0 || passed() < seconds; round += 1) {
      for (const { each, latencies, failures } of outcomes) {
        const outcome = await timeCall(caller, each, round, agent);
        if (typeof outcome === 'number') latencies.push(outcome);
        else failures.push(outcome);
        await sleep(pauseMs);
      }
      if (calls.length === 0) await sleep(pauseMs);
      onProgress(passed());
    }
    return outcomes.map(({ each, latencies, failures }) => ({ name: each.name, latencies, failures }));
  } finally {
    agent.destroy();
  }
}

/** How many calls failed by what, such as `3 × 503`. */
export function failuresOf({ failures }: Outcome): string {
  const kinds = [...new Set(failures)];
  if (kinds.length === 0) return '0';
  return kinds.map((kind) => `${failures.filter((failure) => failure === kind).length} × ${kind}`).join(', ');
}

/** Shares of the times of a call, and how they stand to those of the same call in the quiet, as cells of a table. */
export function timesOf(outcome: Outcome, quiet: Outcome | undefined, shares: readonly number[]): [string, string] {
  const times = (of: Outcome) => shares.map((share) => percentile(of.latencies, share));
  const base = quiet === undefined ? [] : times(quiet);
  const own = times(outcome);
  return [own.map(figure).join(' / '), own.map((value, at) => figure(value / (base[at] ?? NaN))).join(' / ')];
}

/** Milliseconds to the last byte, or what the call failed by. */
export async function timeCall(
  { url, key }: Caller,
  { request }: TimedCall,
  round: number,
  agent: Agent,
): Promise<number | string> {
  const { path, body } = request(round);
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
