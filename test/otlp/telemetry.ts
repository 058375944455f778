import { context, SpanKind, SpanStatusCode, trace, type HrTime, type Tracer } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  TracerProvider,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';

export interface Telemetry {
  readonly provider: TracerProvider;
  readonly tracer: Tracer;
  /** Everything that ended so far, as the SDK knows it. */
  finished(): readonly ReadableSpan[];
  flush(): Promise<void>;
  shutdown(): Promise<void>;
}

/**
 * The real SDK: a batch processor with this exporter, and beside it what the spans were. It exports when a batch is full
 * or it is flushed, never by time, which `flush` would not wait for.
 */
export function startTelemetry(exporter: SpanExporter, batch = 512): Telemetry {
  const ended: ReadableSpan[] = [];
  const nothing = () => Promise.resolve();
  const recorder: SpanProcessor = {
    onStart: () => undefined,
    onEnd: (span) => void ended.push(span),
    forceFlush: nothing,
    shutdown: nothing,
  };
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop', 'deployment.environment.name': 'test' }),
    spanProcessors: [
      recorder,
      new BatchSpanProcessor({
        exporter,
        maxExportBatchSize: batch,
        maxQueueSize: 100_000,
        scheduledDelayMillis: 60_000,
      }),
    ],
  });
  return {
    provider,
    tracer: provider.getTracer('checkout', '1.2.3'),
    finished: () => ended,
    flush: () => provider.forceFlush(),
    shutdown: () => provider.shutdown(),
  };
}

/** A trace of 1 + 3 × (1 + 4) spans with exceptions, events, links, every status and every type of attribute. */
export function recordTrace(tracer: Tracer): string {
  const root = tracer.startSpan('checkout 🛒', {
    kind: SpanKind.SERVER,
    attributes: { 'http.route': '/buy', items: 3 },
  });
  const inRoot = trace.setSpan(context.active(), root);
  for (let n = 0; n < 3; n += 1) {
    const step = tracer.startSpan(
      `step ${n}`,
      { attributes: { weights: [1.5, 2.25], fresh: n > 0, text: 'ünï\u0000' } },
      inRoot,
    );
    step.addEvent('cache missed', { key: `k${n}`, tries: n });
    if (n === 1) step.setStatus({ code: SpanStatusCode.OK });
    if (n === 2) {
      step.recordException(new TypeError('no such basket'));
      step.setStatus({ code: SpanStatusCode.ERROR, message: 'failed' });
    }
    const inStep = trace.setSpan(context.active(), step);
    for (let leaf = 0; leaf < 4; leaf += 1) {
      const links = leaf === 3 ? [{ context: root.spanContext(), attributes: { why: 'cause' } }] : [];
      tracer.startSpan(`leaf ${leaf}`, { kind: SpanKind.CLIENT, links }, inStep).end();
    }
    step.end();
  }
  root.end();
  return root.spanContext().traceId;
}

export const uuidOfTrace = (id: string): string => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
export const uuidOfSpan = (id: string): string => uuidOfTrace(id + '0'.repeat(16));

/** Microseconds, as the server keeps them, rounded from nanoseconds. */
function shownTime([seconds, nanos]: HrTime): string {
  const micros = Math.round(nanos / 1000);
  const at = new Date((seconds + Math.floor(micros / 1e6)) * 1000).toISOString().slice(0, 19);
  return `${at}.${String(micros % 1e6).padStart(6, '0')}Z`;
}

const STATUS = ['unset', 'ok', 'error'];

/** Every one of these spans is there, once, with its parent, times, status, attributes, events, links and error. */
export async function expectStored(server: TestServer, spans: readonly ReadableSpan[]): Promise<void> {
  const traceId = spans[0]!.spanContext().traceId;
  const { status, json } = await server.request('GET', `/spans?limit=10000&trace_id=${uuidOfTrace(traceId)}`);
  expect(status).to.equal(200);
  const stored = json as StoredSpan[];
  expect(stored).to.have.length(spans.length);
  const byId = new Map(stored.map((span) => [span.id, span]));
  for (const span of spans) expectSame(byId.get(uuidOfSpan(span.spanContext().spanId)), span);
}

interface StoredSpan {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

function expectSame(stored: StoredSpan | undefined, span: ReadableSpan): void {
  const parent = span.parentSpanContext?.spanId;
  const exception = span.events.find(({ name }) => name === 'exception')?.attributes;
  expect(stored, span.name).to.include({
    name: span.name,
    trace_id: uuidOfTrace(span.spanContext().traceId),
    parent_span_id: parent === undefined ? null : uuidOfSpan(parent),
    started_at: shownTime(span.startTime),
    ended_at: shownTime(span.endTime),
    status: STATUS[span.status.code],
    error_code: exception?.['exception.type'] ?? null,
    error_message: exception?.['exception.message'] ?? null,
    error_stack: exception?.['exception.stacktrace'] ?? null,
  });
  const { attributes } = stored!;
  expect(attributes).to.deep.include(span.attributes);
  expect(attributes['otel.events'] ?? []).to.deep.equal(
    span.events.map(({ name, time, attributes }) => ({ name, time: shownTime(time), attributes })),
  );
  expect(attributes['otel.links'] ?? []).to.deep.equal(
    span.links.map(({ context, attributes }) => ({
      trace_id: uuidOfTrace(context.traceId),
      span_id: uuidOfSpan(context.spanId),
      attributes,
    })),
  );
  expect(attributes['otel.resource']).to.deep.equal({ attributes: span.resource.attributes });
  expect(attributes['otel.scope']).to.deep.equal({ name: 'checkout', version: '1.2.3' });
}
