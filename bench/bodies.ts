import { generateTrace, SPANS_PER_TRACE } from './data.js';
import { Bodies } from './processes/load.js';

/** Spans of a large request. */
export const REQUEST_SPANS = 120;
/** Clients that send large requests. */
export const REQUEST_CLIENTS = 16;
/** Clients that send spans one by one. */
export const SINGLE_CLIENTS = 64;
/** One-span requests take their spans from this many traces in turn, so that no trace comes in one request or commit. */
const INTERLEAVED_TRACES = 200;
const TRACES_PER_REQUEST = REQUEST_SPANS / SPANS_PER_TRACE;

/** Spans of whole traces, 120 a request; the last request may have fewer. */
export function requestBodies(seed: number, spans: number): Bodies {
  const requests = Math.ceil(spans / REQUEST_SPANS);
  return new Bodies(
    Array.from({ length: requests }, (_none, request) => {
      const first = request * TRACES_PER_REQUEST;
      const traces = Array.from({ length: TRACES_PER_REQUEST }, (_trace, index) => generateTrace(seed, first + index));
      return Buffer.from(JSON.stringify(traces.flat().slice(0, spans - request * REQUEST_SPANS)));
    }),
  );
}

/** One span a request: the first spans of many traces, then their second ones, and so on. */
export function singleBodies(seed: number, spans: number): Bodies {
  const bodies: Buffer[] = [];
  for (let first = 0; bodies.length < spans; first += INTERLEAVED_TRACES) {
    const traces = Array.from({ length: INTERLEAVED_TRACES }, (_none, index) => generateTrace(seed, first + index));
    for (let position = 0; position < SPANS_PER_TRACE; position += 1)
      for (const trace of traces) bodies.push(Buffer.from(JSON.stringify([trace[position]])));
  }
  return new Bodies(bodies.slice(0, spans));
}
