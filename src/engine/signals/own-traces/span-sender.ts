import { setTimeout as sleep } from 'node:timers/promises';
import { ExportResultCode, type ExportResult, parseKeyPairsIntoRecord } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { TracingConfig } from '../../../config/config.js';
import { OWN_EXPORT } from './own-export.js';
import type { SpanSender } from './own-traces.js';
import type { Signals } from '../signals.js';

const NAME = 'spanhouse';
/** Spans that wait to be sent, at most; more are dropped. */
const MAX_WAITING = 2048;
const BATCH = 512;
const SEND_EVERY_MS = 1000;
/** The longest that a stop waits for an endpoint. */
const FLUSH_MS = 1500;

/** Sends spans by OTLP over HTTP in batches, in the background: who ends a span never waits. */
export function openSpanSender(config: TracingConfig, version: string, observer: Signals): SpanSender {
  const exporter = new ObservedExporter(
    new OTLPTraceExporter({
      url: tracesUrl(config.endpoint),
      headers: parseKeyPairsIntoRecord(config.headers ?? undefined),
      userAgent: OWN_EXPORT,
    }),
    observer,
  );
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
      .merge(resourceFromAttributes({ 'service.name': config.serviceName, 'service.version': version })),
    sampler: samplerOf(config),
    spanProcessors: [new BoundedProcessor(exporter, observer)],
  });
  return {
    tracer: provider.getTracer(NAME, version),
    flush: () => exporter.answered(provider.forceFlush()),
    close: () => exporter.answered(provider.shutdown()),
  };
}

function tracesUrl(endpoint: string): string {
  return `${endpoint.replace(/\/+$/, '')}/v1/traces`;
}

/** Only first spans are decided upon: what a caller decided for its own is no parent here. */
function samplerOf({ sampler, samplerArgument }: TracingConfig): Sampler {
  if (sampler.endsWith('always_off')) return new AlwaysOffSampler();
  const root = sampler.endsWith('traceidratio') ? new TraceIdRatioBasedSampler(samplerArgument) : new AlwaysOnSampler();
  return new ParentBasedSampler({ root });
}

/** Says what became of spans. */
class ObservedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #observer: Signals;
  #away = false;
  /** Handed over by the batching. */
  taken = 0;

  constructor(exporter: SpanExporter, observer: Signals) {
    this.#exporter = exporter;
    this.#observer = observer;
  }

  /** Waits for work of the endpoint; not for one that took nothing of late. What is not sent was reported by then. */
  async answered(work: Promise<void>): Promise<void> {
    const done = work.catch(() => undefined);
    if (this.#away) return;
    const limit = new AbortController();
    const late = sleep(FLUSH_MS, true, { signal: limit.signal }).catch(() => false);
    this.#away = (await Promise.race([done, late])) === true;
    limit.abort();
  }

  export(spans: ReadableSpan[], callback: (result: ExportResult) => void): void {
    this.taken += spans.length;
    this.#exporter.export(spans, ({ code, error }) => {
      const count = spans.length;
      this.#away = code !== ExportResultCode.SUCCESS;
      if (this.#away) this.#observer.ownSpansFailed({ count, reason: reasonOf(error) });
      else this.#observer.ownSpansSent({ count });
      // Told above; the batching would only tell OpenTelemetry's global handler.
      callback({ code: ExportResultCode.SUCCESS });
    });
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

/** Batches spans, and counts those that find no room. */
class BoundedProcessor implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #exporter: ObservedExporter;
  readonly #observer: Signals;
  #given = 0;

  constructor(exporter: ObservedExporter, observer: Signals) {
    this.#exporter = exporter;
    this.#observer = observer;
    this.#batches = new BatchSpanProcessor({
      exporter,
      maxQueueSize: MAX_WAITING,
      maxExportBatchSize: BATCH,
      scheduledDelayMillis: SEND_EVERY_MS,
    });
  }

  onStart(): void {
    // A span waits only once it has ended.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#given - this.#exporter.taken >= MAX_WAITING) {
      this.#observer.ownSpansDropped({ count: 1 });
      return;
    }
    this.#given += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }
}

/** In a word or two: what an endpoint answers may be a page. */
function reasonOf(error: Error | undefined): string {
  if (error === undefined) return 'it does not respond';
  if ('code' in error && typeof error.code === 'number') return `it responds with ${error.code} ${error.message}`;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.message;
}
