import type { SpanFlaw } from '../features/images/intake.js';
import type { SpanIngest } from '../features/traces/span-ingest.js';
import type { Span } from '../engine/traces/model/span/span.js';
import { decodeJson } from './json.js';
import type { OtlpTraces } from './model.js';
import { decodeProtobuf } from './protobuf.js';
import type { OtlpEncoding, PartialSuccess } from './response.js';
import { MAX_REJECTED_MESSAGES, toSpans, type Rejected } from './span.js';
import type { Signals } from '../engine/signals/signals.js';

/** An ExportTraceServiceRequest as it came, unfolded. */
export interface OtlpRequest {
  readonly bytes: Buffer;
  readonly encoding: OtlpEncoding;
}

/**
 * Stores what one export request holds, whichever way it came. Resolves once the usable spans are durable, with what
 * to say of the others; null when there are none.
 * @throws DomainError `malformed`, `too_large`, and those of the write log: then nothing was acknowledged
 */
export type ExportTraces = (projectId: string, request: OtlpRequest) => Promise<PartialSuccess | null>;

export interface ExportParts {
  readonly ingest: Pick<SpanIngest, 'storeSpans'>;
  readonly observer: Pick<Signals, 'spansRejected'>;
  /** Largest size of a request's rows: spans that share more than this are not worth mapping. */
  readonly maxEncodedBytes: number;
  readonly maxTagBytes: number;
  /** Parses JSON. @throws DomainError `malformed` */
  readonly parse: ParseJson;
}

type ParseJson = (bytes: Buffer) => unknown;

export function createExport({ ingest, observer, maxEncodedBytes, maxTagBytes, parse }: ExportParts): ExportTraces {
  return async (projectId, request) => {
    const {
      spans,
      evaluations,
      rejected: unusable,
    } = toSpans(tracesOf(request, parse), {
      sharedBytes: maxEncodedBytes,
      tagBytes: maxTagBytes,
    });
    const { flaws, unfit } = await ingest.storeSpans(projectId, 'otlp', spans, evaluations);
    const rejected = withFlaws(unusable, flaws, spans);
    if (rejected.count + unfit.length === 0) return null;
    // Only now: a request that is refused as a whole comes again, with the same bad spans.
    if (rejected.count > 0) observer.spansRejected({ source: 'otlp', reason: 'invalid', count: rejected.count });
    const messages = [...(rejected.count > 0 ? [explain(rejected)] : []), ...explainUnfit(unfit)];
    return { rejectedSpans: rejected.count, errorMessage: messages.join('; ') };
  };
}

function tracesOf({ bytes, encoding }: OtlpRequest, parse: ParseJson): OtlpTraces {
  return encoding === 'protobuf' ? decodeProtobuf(bytes) : decodeJson(parse(bytes));
}

/** Spans refused for their attachments or tags join those that could not be used at all. */
function withFlaws({ count, messages }: Rejected, flaws: readonly SpanFlaw[], spans: readonly Span[]): Rejected {
  const described = flaws.slice(0, MAX_REJECTED_MESSAGES - messages.length).map(({ index, issues }) => {
    const { trace_id = '', id = '', name = '' } = spans[index] ?? {};
    const rules = issues.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join(', ');
    return `span (trace_id "${hex(trace_id)}", span_id "${hex(id).slice(0, 16)}", name ${JSON.stringify(name.slice(0, 64))}): ${rules}`;
  });
  return { count: count + flaws.length, messages: [...messages, ...described] };
}

/** An id as OpenTelemetry writes it. */
function hex(uuid: string): string {
  return uuid.replaceAll('-', '');
}

function explain({ count, messages }: Rejected): string {
  const more = count - messages.length;
  return [...messages, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** A warning, without which no span is missing. */
function explainUnfit([first, ...more]: readonly string[]): string[] {
  if (first === undefined) return [];
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  return [`evaluations not stored as scores: ${first}${others}; their spans are stored`];
}
