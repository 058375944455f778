import { SpanKind, SpanStatusCode, TraceFlags, type Attributes, type HrTime } from '@opentelemetry/api';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { GeneratedSpan } from './data.js';

export type Encoding = 'protobuf' | 'JSON';

export const CONTENT_TYPES: Readonly<Record<Encoding, string>> = {
  protobuf: 'application/x-protobuf',
  JSON: 'application/json',
};

/** An export request of these spans, as the exporters of OpenTelemetry write it. */
export function otlpRequest(spans: readonly GeneratedSpan[], encoding: Encoding): Buffer {
  const serializer = encoding === 'protobuf' ? ProtobufTraceSerializer : JsonTraceSerializer;
  const bytes = serializer.serializeRequest(spans.map(readable));
  if (bytes === undefined) throw new Error('the serializer made no request');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const RESOURCE = resourceFromAttributes({
  'service.name': 'assistant',
  'service.version': '2026.1.1',
  'deployment.environment.name': 'production',
  'telemetry.sdk.language': 'nodejs',
  'telemetry.sdk.name': 'opentelemetry',
  'host.name': 'worker-7f9c',
});
const SCOPE = { name: '@opentelemetry/instrumentation-openai', version: '0.5.0' };

/** The span as the SDK would hold it. */
function readable(span: GeneratedSpan): ReadableSpan {
  const failed = span.status === 'error';
  const start = hrTime(span.started_at);
  const end = hrTime(span.ended_at ?? span.started_at);
  const parent = span.parent_span_id;
  return {
    name: span.name,
    kind: span.kind === 'llm' ? SpanKind.CLIENT : SpanKind.INTERNAL,
    spanContext: () => contextOf(span.trace_id, span.id),
    ...(parent == null ? {} : { parentSpanContext: contextOf(span.trace_id, parent) }),
    startTime: start,
    endTime: end,
    duration: [0, 0],
    ended: true,
    status: failed ? { code: SpanStatusCode.ERROR, message: span.error_message ?? '' } : { code: SpanStatusCode.OK },
    attributes: attributesOf(span),
    events: failed ? [{ name: 'exception', time: end, attributes: exceptionOf(span) }] : [],
    links: [],
    resource: RESOURCE,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf(traceId: string, spanId: string) {
  const hex = (uuid: string) => uuid.replaceAll('-', '');
  return { traceId: hex(traceId), spanId: hex(spanId).slice(0, 16), traceFlags: TraceFlags.SAMPLED };
}

function hrTime(time: string | number): HrTime {
  const ms = Date.parse(String(time));
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}

/** By the current conventions for GenAI where it calls a model, by OpenInference elsewhere. */
function attributesOf(span: GeneratedSpan): Attributes {
  const { provider, model, inputTokens, outputTokens, ...others } = span.attributes as Attributes;
  const calls = span.kind === 'llm';
  return {
    ...others,
    'session.id': span.session_id ?? '',
    'user.id': String(span.tags?.['user']),
    feature: String(span.tags?.['feature']),
    'code.file.path': span.code_filepath ?? '',
    'code.line.number': span.code_lineno ?? 0,
    ...(model === undefined
      ? {}
      : {
          'gen_ai.operation.name': calls ? 'chat' : 'embeddings',
          'gen_ai.provider.name': provider,
          'gen_ai.request.model': model,
          'gen_ai.usage.input_tokens': inputTokens,
          'gen_ai.usage.output_tokens': outputTokens,
        }),
    ...(calls
      ? { 'gen_ai.input.messages': payload(span.input_data), 'gen_ai.output.messages': payload(span.output_data) }
      : {
          'openinference.span.kind': String(span.kind).toUpperCase(),
          'input.value': payload(span.input_data),
          'output.value': payload(span.output_data),
        }),
  };
}

function exceptionOf(span: GeneratedSpan): Attributes {
  return {
    'exception.type': span.error_code ?? '',
    'exception.message': span.error_message ?? '',
    'exception.stacktrace': span.error_stack ?? '',
  };
}

function payload(data: GeneratedSpan['input_data']): string {
  return typeof data === 'string' ? data : '';
}
