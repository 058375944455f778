import { generateTrace, SPANS_PER_TRACE } from './data.js';
import { Bodies } from './processes/load.js';
import { generateSpans } from './rows.js';

/** Traces whose first spans are sent again and again as traces of their own. */
const POOL_TRACES = 3_000;

/** Spans of traces one after another, so many a request. */
export function bodiesOfSpans(seed: number, requests: number, spansEach: number): Bodies {
  const traces = Math.ceil((requests * spansEach) / SPANS_PER_TRACE);
  const spans = generateSpans(seed, 0, traces);
  return new Bodies(
    Array.from({ length: requests }, (_none, request) =>
      Buffer.from(JSON.stringify(spans.slice(request * spansEach, (request + 1) * spansEach))),
    ),
  );
}

/** Bodies of traces of one span each, made when they are asked for: all of them would not fit in memory. */
export function* oneSpanTraces(seed: number, traces: number, tracesEach: number): Generator<Buffer> {
  const pool = Array.from({ length: Math.min(POOL_TRACES, traces) }, (_none, number) => generateTrace(seed, number)[0]);
  const spanOf = (number: number) => ({
    ...pool[number % pool.length],
    id: undefined,
    trace_id: `0197f3a0-0000-7000-9000-${number.toString(16).padStart(12, '0')}`,
  });
  for (let first = 0; first < traces; first += tracesEach) {
    const length = Math.min(tracesEach, traces - first);
    yield Buffer.from(JSON.stringify(Array.from({ length }, (_span, at) => spanOf(first + at))));
  }
}
