import { REQUEST_CLIENTS, REQUEST_SPANS, requestBodies, SINGLE_CLIENTS, singleBodies } from './bodies.js';
import { generateTrace } from './data.js';
import { Bodies } from './processes/load.js';
import type { ServerProcess } from './processes/server.js';
import { startSteadyLoad } from './processes/steady.js';
import { OTHER_KEY, type Load } from './two-projects.js';

/** Rate of the paced load, the one that does not write as fast as it can. */
export const PACED_SPANS_PER_SECOND = 2_000;
const PACED_SPANS_PER_REQUEST = 20;
const PACED_CLIENTS = 8;
const SMALL_SPANS_PER_REQUEST = 12;
/** Requests and traces that the loads send again and again, each time with other ids. */
const POOL = { requests: 300, singles: 6_000, traces: 3_000 };

/** Who writes while others read; bounds hold by these names. */
export const WRITERS = {
  nobody: 'nobody',
  small: `one client, ${SMALL_SPANS_PER_REQUEST} spans at a time`,
  paced: `${PACED_SPANS_PER_SECOND.toLocaleString('en')} spans/s, ${PACED_SPANS_PER_REQUEST} at a time`,
  flood: 'flood, same project',
  floodSomeAgain: 'flood, same project, 5 % sent again',
  floodHalfAgain: 'flood, same project, 50 % sent again',
  floodOfOther: 'flood, another project',
  singles: 'one-span flood, same project',
  singlesOfOtherAlone: 'one-span flood, another project, nobody reads',
  singlesOfOther: 'one-span flood, another project',
  nobodyAgain: 'nobody again',
} as const;

/** A load of writes while others read. */
export interface Writes extends Load {
  /** Spans of each request. */
  readonly spans: number;
}

/** In the order they are measured in; the flood that is compared with itself unread comes right after that. */
export function mixedWrites(seed: number): Writes[] {
  const requests = requestBodies(seed + 2, POOL.requests * REQUEST_SPANS);
  const singles = singleBodies(seed + 3, POOL.singles);
  const small = bodiesOf(seed + 4, SMALL_SPANS_PER_REQUEST);
  const paced = bodiesOf(seed + 5, PACED_SPANS_PER_REQUEST);
  const by = ({ url }: ServerProcess, key: string, clients: number) => ({ url, key, clients, refusable: true });
  const perSecond = PACED_SPANS_PER_SECOND / PACED_SPANS_PER_REQUEST;
  // Each has ids of its own, so that only those that are to be sent again are.
  const flood = (series: number, repeated = 0) => ({
    spans: REQUEST_SPANS,
    start: (server: ServerProcess) =>
      startSteadyLoad(requests, by(server, server.key, REQUEST_CLIENTS), { series, repeated }),
  });
  const singlesOfOther = (series: number) => ({
    spans: 1,
    start: (server: ServerProcess) => startSteadyLoad(singles, by(server, OTHER_KEY, SINGLE_CLIENTS), { series }),
  });
  const nothing = { spans: 0, start: () => null };
  return [
    { name: WRITERS.nobody, ...nothing },
    {
      name: WRITERS.small,
      spans: SMALL_SPANS_PER_REQUEST,
      start: (server) => startSteadyLoad(small, by(server, server.key, 1)),
    },
    {
      name: WRITERS.paced,
      spans: PACED_SPANS_PER_REQUEST,
      start: (server) => startSteadyLoad(paced, { ...by(server, server.key, PACED_CLIENTS), perSecond }),
    },
    { name: WRITERS.flood, ...flood(0) },
    { name: WRITERS.floodSomeAgain, ...flood(1, 0.05) },
    { name: WRITERS.floodHalfAgain, ...flood(2, 0.5) },
    {
      name: WRITERS.floodOfOther,
      spans: REQUEST_SPANS,
      start: (server) => startSteadyLoad(requests, by(server, OTHER_KEY, REQUEST_CLIENTS)),
    },
    {
      name: WRITERS.singles,
      spans: 1,
      start: (server) => startSteadyLoad(singles, by(server, server.key, SINGLE_CLIENTS)),
    },
    { name: WRITERS.singlesOfOtherAlone, ...singlesOfOther(0), alone: true },
    { name: WRITERS.singlesOfOther, ...singlesOfOther(1) },
    { name: WRITERS.nobodyAgain, ...nothing },
  ];
}

/** Requests of so many spans, of whole traces one after another. */
export function bodiesOf(seed: number, spans: number): Bodies {
  const all = Array.from({ length: POOL.traces }, (_none, number) => generateTrace(seed, number)).flat();
  return new Bodies(
    Array.from({ length: Math.floor(all.length / spans) }, (_none, request) =>
      Buffer.from(JSON.stringify(all.slice(request * spans, (request + 1) * spans))),
    ),
  );
}
