import { SPANS_PER_TRACE, type GeneratedSpan } from './data.js';
import { otlpRequest } from './otlp-requests.js';
import { generateSpans } from './rows.js';

const TRACES_PER_REQUEST = 40;
/** Spans of a whole request. */
export const REQUEST_SPANS = TRACES_PER_REQUEST * SPANS_PER_TRACE;
export const LONG_TRACE_SPANS = 2_000;
const LONG_TRACE_REQUEST_SPANS = 500;
/** Sent before any clock starts: servers are slow at first. */
const WARM_UP_REQUESTS = 8;
export const WARM_UP_SPANS = WARM_UP_REQUESTS * REQUEST_SPANS;
/** Of the last requests, one trace each is looked for. */
const LAST_REQUESTS = 16;
/** Words of two searches: many spans have one, few the other. */
const COMMON_TEXT = 'overdue';
const RARE_TEXT = /\b(ORD|INV|TCK|RMA|POL)-\d{6}\b/;

/** The same for every product. Traces are named by their ids as the spans of the bench have them: UUIDs. */
export interface PeerData {
  readonly warmUp: PeerRequests;
  readonly main: PeerRequests;
  /** Without those of the warm-up. */
  readonly spans: number;
  /** With those of the warm-up. */
  readonly traces: number;
  readonly longTrace: { readonly id: string; readonly requests: readonly Buffer[] };
  readonly commonText: string;
  readonly rareText: string;
}

export interface PeerRequests {
  readonly requests: readonly Buffer[];
  /** Traces of the last requests. */
  readonly lastTraces: readonly string[];
}

/** Export requests of whole traces, as many as have so many spans. */
export function peerData(seed: number, spans: number): PeerData {
  const traces = Math.ceil(spans / SPANS_PER_TRACE);
  const middle = Math.floor(traces / 2);
  return {
    warmUp: requestsOf(seed + 2, WARM_UP_REQUESTS * TRACES_PER_REQUEST),
    main: requestsOf(seed, traces),
    spans: traces * SPANS_PER_TRACE,
    traces: traces + WARM_UP_REQUESTS * TRACES_PER_REQUEST,
    longTrace: longTrace(seed + 1),
    commonText: COMMON_TEXT,
    rareText: codeIn(generateSpans(seed, middle, Math.min(traces, middle + TRACES_PER_REQUEST))),
  };
}

function requestsOf(seed: number, traces: number): PeerRequests {
  const requests: Buffer[] = [];
  const lastTraces: string[] = [];
  for (let first = 0; first < traces; first += TRACES_PER_REQUEST) {
    const spans = generateSpans(seed, first, Math.min(traces, first + TRACES_PER_REQUEST));
    requests.push(otlpRequest(spans, 'protobuf'));
    lastTraces.push(spans.at(-1)?.trace_id ?? '');
  }
  return { requests, lastTraces: lastTraces.slice(-LAST_REQUESTS) };
}

/** A code that hardly any other span has, in the input of a span that calls no model. */
function codeIn(spans: readonly GeneratedSpan[]): string {
  for (const { kind, input_data } of spans) {
    const found = kind === 'llm' || typeof input_data !== 'string' ? null : RARE_TEXT.exec(input_data);
    if (found !== null) return found[0];
  }
  throw new Error('no span has a code');
}

/** The spans of many traces as those of one, below the root of the first. */
function longTrace(seed: number): PeerData['longTrace'] {
  const spans = generateSpans(seed, 0, Math.ceil(LONG_TRACE_SPANS / SPANS_PER_TRACE)).slice(0, LONG_TRACE_SPANS);
  const [root] = spans;
  if (root === undefined) throw new Error('no spans are made');
  const ofOne = spans.map((span) => ({
    ...span,
    trace_id: root.trace_id,
    parent_span_id: span === root ? null : (span.parent_span_id ?? root.id),
  }));
  const requests = Array.from({ length: Math.ceil(LONG_TRACE_SPANS / LONG_TRACE_REQUEST_SPANS) }, (_none, request) => {
    const first = request * LONG_TRACE_REQUEST_SPANS;
    return otlpRequest(ofOne.slice(first, first + LONG_TRACE_REQUEST_SPANS), 'protobuf');
  });
  return { id: root.trace_id, requests };
}
