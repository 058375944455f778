import { DomainError } from '../engine/errors.js';
import { normalizeCost } from '../engine/schema/normalize.js';
import { toJsonText } from '../engine/json-text.js';
import { NOTHING_SAID, type Span, type SpanStatus } from '../engine/traces/model/span/span.js';
import { WRAPPER_KINDS } from '../engine/traces/model/span/usage.js';
import type { Tags } from '../engine/schema/tags.js';
import type { SpanEvaluation } from '../features/scores/span-scores.js';
import { evaluationsOf } from './evaluations.js';
import { Evidence } from './genai/evidence.js';
import { Lookup } from './genai/lookup.js';
import { CONTRACT_ATTRIBUTES } from './genai/mapping.js';
import { SPAN_ID, spanUuid, TRACE_ID, traceUuid } from '../engine/schema/ids.js';
import type { Attributes, AttributeValue, OtlpResource, OtlpScope, OtlpSpan, OtlpTraces } from './model.js';
import { MAX_NAME, nameOf } from './name.js';
import { shownResource, shownScope, writeOtelAttributes, type Shown } from './otel.js';
import { PromptLinks } from './prompt-links.js';
import { sessionNamed, type NamedSession } from './session-id.js';
import { resourceTags, tagsOf } from './tags.js';
import { foldNestedUsage, type MutableSpan } from './usage.js';

/** The outcome of mapping one request: usable spans in the order they were sent, and why others are refused. */
export interface MappedSpans {
  readonly spans: Span[];
  /** What events of the spans say of them. */
  readonly evaluations: SpanEvaluation[];
  readonly rejected: Rejected;
}

export interface Rejected {
  readonly count: number;
  /** One sentence for each of the first {@link MAX_REJECTED_MESSAGES} refused spans. */
  readonly messages: readonly string[];
}

export const MAX_REJECTED_MESSAGES = 5;

export interface MappingLimits {
  /**
   * Bytes of resources and scopes as JSON. Each span carries its own: a large one would otherwise make a small request of
   * many tiny spans write any number of bytes.
   */
  readonly sharedBytes: number;
  /** Bytes of the tags of one span. */
  readonly tagBytes: number;
}

/** The most that a request can be allowed to write, and that a span is allowed by default. */
const DEFAULT_LIMITS: MappingLimits = { sharedBytes: 256 * 1024 * 1024, tagBytes: 256 * 1024 };

/**
 * Maps decoded spans to domain spans: ids, times, status, errors, session, tags, and what the GenAI conventions say.
 * Spans that cannot be used are refused one by one. Takes over the traces: their attributes become those of the spans.
 * @throws DomainError `too_large` with more shared bytes than allowed
 */
export function toSpans(traces: OtlpTraces, limits: MappingLimits = DEFAULT_LIMITS): MappedSpans {
  const mapper = new SpanMapper(limits);
  const spans: MutableSpan[] = [];
  const evaluations: SpanEvaluation[] = [];
  const messages: string[] = [];
  let count = 0;
  for (const [i, otlp] of traces.spans.entries()) {
    const flaw = flawOf(otlp) ?? mapper.read(otlp);
    if (flaw === null) {
      if (otlp.events.length > 0) for (const found of evaluationsOf(otlp, spans.length)) evaluations.push(found);
      spans.push(mapper.map(otlp));
    } else if (++count <= MAX_REJECTED_MESSAGES) messages.push(describe(otlp, i, flaw));
  }
  foldNestedUsage(spans);
  mapper.prompts.write();
  return { spans, evaluations, rejected: { count, messages } };
}

// ---- what makes a span unusable

const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

function flawOf(span: OtlpSpan): string | null {
  if (!TRACE_ID.test(span.traceId)) return 'trace_id must be 16 bytes';
  if (span.traceId === NO_TRACE) return 'trace_id must not be all zero';
  if (!SPAN_ID.test(span.spanId)) return 'span_id must be 8 bytes';
  if (span.spanId === NO_SPAN) return 'span_id must not be all zero';
  if (span.parentSpanId !== '' && !SPAN_ID.test(span.parentSpanId)) return 'parent_span_id must be 8 bytes or empty';
  if (span.parentSpanId === span.spanId) return 'parent_span_id must not be the span itself';
  if (span.name.length > MAX_NAME) return `name is longer than ${MAX_NAME} characters`;
  if (span.start === 0 && span.end === 0) return 'start_time_unix_nano is missing';
  if (!Number.isSafeInteger(span.start) || !Number.isSafeInteger(span.end)) return 'a time is later than the year 2255';
  if (span.end !== 0 && span.end < span.start) return 'end_time_unix_nano is before start_time_unix_nano';
  return null;
}

function describe(span: OtlpSpan, position: number, flaw: string): string {
  const shown = (text: string): string => JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
  return `span ${position} (trace_id ${shown(span.traceId)}, span_id ${shown(span.spanId)}, name ${shown(span.name)}): ${flaw}`;
}

// ---- what a span becomes

const STATUSES: readonly SpanStatus[] = ['unset', 'ok', 'error'];

const NO_TAGS: Tags = Object.freeze({});

/** Values that all spans of one resource have in common. */
interface ResourceFacts {
  readonly resource: OtlpResource | null;
  readonly tags: Tags;
  readonly session: string | null;
  readonly sessionName: string | null;
  /** The resource as it is written into each span. */
  readonly shown: Shown | null;
  readonly bytes: number;
}

interface ScopeFacts {
  readonly scope: OtlpScope | null;
  readonly shown: Shown | null;
  readonly bytes: number;
}

/** Maps the spans of one request, remembering what they share. */
class SpanMapper {
  readonly prompts = new PromptLinks();
  readonly #evidence = new Evidence(new Lookup());
  readonly #sessions = new Map<string, NamedSession | null>();
  #session: { id: string | null; name: string | null } = { id: null, name: null };
  #resource: ResourceFacts = {
    resource: null,
    tags: {},
    session: null,
    sessionName: null,
    shown: null,
    bytes: 0,
  };
  #scope: ScopeFacts = { scope: null, shown: null, bytes: 0 };
  #traceId = { hex: '', uuid: '' };
  /** Bytes of resources and scopes that may still be repeated in spans of the request. */
  #sharedBytes: number;
  readonly #tagBytes: number;

  constructor({ sharedBytes, tagBytes }: MappingLimits) {
    this.#sharedBytes = sharedBytes;
    this.#tagBytes = tagBytes;
  }

  /**
   * Reads what a span says; {@link map} then makes of it what was read.
   * @returns what makes it unusable, null when nothing does
   */
  read(otlp: OtlpSpan): string | null {
    this.#resource = this.#resourceFacts(otlp.resource);
    this.#scope = this.#scopeFacts(otlp.scope);
    this.#sharedBytes -= this.#resource.bytes + this.#scope.bytes;
    if (this.#sharedBytes < 0) {
      throw new DomainError(
        'too_large',
        'resource and scope, which are stored with every span, are too large for this many spans: send smaller batches',
      );
    }
    const evidence = this.#evidence;
    evidence.read(otlp);
    const named = evidence.text('session') ?? this.#resource.session;
    if ((named?.length ?? 0) > MAX_NAME) return `its session id is longer than ${MAX_NAME} characters`;
    this.#session = this.#sessionOf(named?.toWellFormed() ?? null);
    this.#session.name = evidence.text('sessionName') ?? this.#resource.sessionName ?? this.#session.name;
    const tooLong = (this.#session.name?.length ?? 0) > MAX_NAME;
    return tooLong ? `its session name is longer than ${MAX_NAME} characters` : null;
  }

  map(otlp: OtlpSpan): MutableSpan {
    const evidence = this.#evidence;
    const kind = evidence.kind();
    const start = otlp.start === 0 ? otlp.end : otlp.start;
    const end = otlp.end === 0 ? null : otlp.end;
    const status = statusOf(otlp, evidence);
    const error = errorOf(otlp, status, evidence);
    const parent = otlp.parentSpanId === '' || otlp.parentSpanId === NO_SPAN ? null : spanUuid(otlp.parentSpanId);
    const tags = tagsOf(evidence, this.#resource.tags, this.#tagBytes);
    const span: MutableSpan = {
      id: spanUuid(otlp.spanId),
      trace_id: this.#traceUuid(otlp.traceId),
      parent_span_id: parent,
      session_id: this.#session.id,
      session_name: this.#session.name,
      name: nameOf(otlp, evidence, kind, parent === null),
      kind,
      status,
      started_at: start,
      ended_at: end,
      duration_ms: end === null ? null : (end - start) / 1000,
      cost: givenCost(evidence, kind),
      input_data: evidence.input(kind),
      output_data: evidence.output(kind),
      attributes: otlp.attributes,
      tags: tags.ofSpan,
      // Lists of traces and sessions are filtered by these as well; of several services in one, the latest written counts.
      trace_tags: tags.ofTrace,
      session_tags: this.#session.id === null ? NO_TAGS : tags.ofTrace,
      ...NOTHING_SAID,
      ...error,
      code_filepath: evidence.text('codeFile'),
      code_lineno: evidence.number('codeLine'),
    };
    writeContractAttributes(otlp.attributes, evidence, kind);
    this.prompts.read(span, otlp.attributes, evidence);
    writeOtelAttributes(otlp, span, this.#resource.shown, this.#scope.shown);
    return span;
  }

  #traceUuid(hex: string): string {
    if (this.#traceId.hex !== hex) this.#traceId = { hex, uuid: traceUuid(hex) };
    return this.#traceId.uuid;
  }

  /** A session's UUID, and its name when what the client sent is no UUID. */
  #sessionOf(value: string | null): { id: string | null; name: string | null } {
    if (value === null) return { id: null, name: null };
    let named = this.#sessions.get(value);
    if (named === undefined) this.#sessions.set(value, (named = sessionNamed(value)));
    return { id: named?.id ?? null, name: named?.name ?? null };
  }

  #resourceFacts(resource: OtlpResource): ResourceFacts {
    if (this.#resource.resource === resource) return this.#resource;
    const evidence = this.#evidence;
    evidence.readAttributes(resource.attributes);
    const shown = shownResource(resource);
    return {
      resource,
      tags: resourceTags(evidence, this.#tagBytes),
      session: evidence.text('session'),
      sessionName: evidence.text('sessionName'),
      shown,
      bytes: bytesOf(shown),
    };
  }

  #scopeFacts(scope: OtlpScope): ScopeFacts {
    if (this.#scope.scope === scope) return this.#scope;
    const shown = shownScope(scope);
    return { scope, shown, bytes: bytesOf(shown) };
  }
}

function bytesOf(shown: Shown | null): number {
  return shown === null ? 0 : Buffer.byteLength(toJsonText(shown));
}

/** Cost of a call as its exporter states it; null for wrappers, which repeat the cost of the calls beneath them. */
function givenCost(evidence: Evidence, kind: string): number | null {
  const cost = WRAPPER_KINDS.has(kind) ? null : evidence.number('givenCost');
  return cost === null ? null : normalizeCost(cost);
}

/** The span's own status; where that is not set, Langfuse's level says whether it failed. */
function statusOf(span: OtlpSpan, evidence: Evidence): SpanStatus {
  const status = STATUSES[span.statusCode] ?? 'unset';
  return status === 'unset' && evidence.text('level')?.toUpperCase() === 'ERROR' ? 'error' : status;
}

type SpanError = Pick<Span, 'error_code' | 'error_message' | 'error_stack'>;

/** The last exception event says what went wrong; without one, the status and `error.type` of a failed span. */
function errorOf(span: OtlpSpan, status: SpanStatus, evidence: Evidence): SpanError {
  const failed = status === 'error';
  const message = span.statusMessage === '' ? evidence.text('levelMessage') : span.statusMessage;
  const exception = span.events.findLast((event) => event.name === 'exception')?.attributes;
  return {
    error_code: textOf(exception?.['exception.type']) ?? (failed ? evidence.text('errorType') : null),
    error_message: textOf(exception?.['exception.message']) ?? (failed ? message : null),
    error_stack: textOf(exception?.['exception.stacktrace']),
  };
}

function textOf(value: AttributeValue | undefined): string | null {
  if (value === undefined || value === null || value === '') return null;
  return typeof value === 'string' ? value : toJsonText(value);
}

/** Kinds whose calls give no tokens out; exporters leave their count out, and a price needs both counts. */
const KINDS_WITHOUT_OUTPUT: ReadonlySet<string> = new Set(['embedding', 'reranker']);

/** Mapped values stand beside the originals and never replace one. */
function writeContractAttributes(attributes: Attributes, evidence: Evidence, kind: string): void {
  for (const name of CONTRACT_ATTRIBUTES) {
    const value = evidence.value(name);
    if (value !== null && attributes[name] === undefined) attributes[name] = value;
  }
  if (KINDS_WITHOUT_OUTPUT.has(kind) && attributes.inputTokens !== undefined) attributes.outputTokens ??= 0;
}
