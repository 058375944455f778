import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import protobuf from 'protobufjs';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { decodeJson } from '../../src/otlp/json.js';
import { decodeProtobuf } from '../../src/otlp/protobuf.js';
import { toSpans, type MappedSpans } from '../../src/otlp/span.js';

const schemaDirectory = fileURLToPath(new URL('../../../schema/otlp/', import.meta.url));

/** Message types read from schema/otlp by reflection: what the hand-written code is held against. */
function loadSchema(): protobuf.Root {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => `${schemaDirectory}${target}`;
  root.loadSync(['opentelemetry/proto/collector/trace/v1/trace_service.proto', 'google/rpc/status.proto']);
  return root;
}

const schema = loadSchema();
export const RequestType = schema.lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest');
export const ResponseType = schema.lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse');
export const StatusType = schema.lookupType('google.rpc.Status');

export type Json = Record<string, unknown>;

/** A request in OTLP/JSON, encoded in protobuf after schema/otlp. */
export function toProtobuf(request: unknown): Uint8Array {
  return RequestType.encode(RequestType.fromObject(withBinaryIds(request) as Json)).finish();
}

const IDS: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId']);

/** protobufjs takes bytes as base64, where OTLP/JSON has ids in hex; and `stringValue` of an unset oneof must be absent. */
function withBinaryIds(value: unknown, name = ''): unknown {
  if (IDS.has(name)) return Buffer.from(value as string, 'hex').toString('base64');
  if (Array.isArray(value)) return value.map((item) => withBinaryIds(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withBinaryIds(inner, key)]));
}

export const TRACE = '5b8efff798038103d269b633813fc60c';
export const TRACE_UUID = '5b8efff7-9803-8103-d269-b633813fc60c';

/** The n-th span id. */
export function spanId(n: number): string {
  return n.toString(16).padStart(16, '0');
}

export function spanUuid(n: number): string {
  const hex = spanId(n);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12)}-0000-000000000000`;
}

export type Plain = string | number | boolean | null | Plain[] | { readonly [name: string]: Plain };

export type Values = Readonly<Record<string, Plain>>;

/** Attributes as OTLP/JSON writes them; numbers that are whole become integers. */
export function attributes(values: Values): Json[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: Plain): Json {
  if (value === null) return {};
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  return { kvlistValue: { values: attributes(value) } };
}

/** A usable span in OTLP/JSON, of 1.5 s; what is given replaces its parts. */
export function otlpSpan(parts: Json = {}): Json {
  return {
    traceId: TRACE,
    spanId: spanId(1),
    name: 'chat',
    kind: 3,
    startTimeUnixNano: '1767225600000000000',
    endTimeUnixNano: '1767225601500000000',
    ...parts,
  };
}

export function event(name: string, values: Values = {}): Json {
  return { name, timeUnixNano: '1767225600250000999', attributes: attributes(values) };
}

export function request(spans: readonly Json[], resource: Values = {}, scope: Json = {}): Json {
  return { resourceSpans: [{ resource: { attributes: attributes(resource) }, scopeSpans: [{ scope, spans }] }] };
}

/** Maps a request; both encodings must give the same. */
export function mapRequest(value: Json): MappedSpans {
  const fromJson = toSpans(decodeJson(JSON.parse(JSON.stringify(value))));
  const fromProtobuf = toSpans(decodeProtobuf(toProtobuf(value)));
  expect(fromProtobuf).to.deep.equal(fromJson);
  return fromJson;
}

/** Maps one span with these attributes and events. */
export function mapSpan(values: Values, events: readonly Json[] = []): Span {
  const { spans, rejected } = mapRequest(request([otlpSpan({ attributes: attributes(values), events })]));
  expect(rejected).to.deep.equal({ count: 0, messages: [] });
  expect(spans).to.have.length(1);
  return spans[0]!;
}

/** What a span's input or output holds. */
export function json(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
