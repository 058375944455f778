import type { Micros } from '../engine/timestamp.js';

/**
 * The value of an attribute: plain JSON. Integers beyond 2^53 are decimal strings, bytes are base64 strings, doubles
 * that JSON cannot carry are "NaN", "Infinity" and "-Infinity", a key-value list is an object without prototype.
 */
export type AttributeValue = string | number | boolean | null | AttributeValue[] | Attributes;

/** Attributes by name, as an object without prototype, so that no name is special. */
export interface Attributes {
  [name: string]: AttributeValue;
}

/** Shared by reference among all spans it produced. */
export interface OtlpResource {
  attributes: Attributes;
  droppedAttributesCount: number;
  schemaUrl: string;
}

/** Shared by reference among all spans of one instrumentation scope in one request. */
export interface OtlpScope {
  name: string;
  version: string;
  attributes: Attributes;
  droppedAttributesCount: number;
  schemaUrl: string;
}

export interface OtlpEvent {
  time: Micros;
  name: string;
  attributes: Attributes;
  droppedAttributesCount: number;
}

export interface OtlpLink {
  traceId: string;
  spanId: string;
  traceState: string;
  attributes: Attributes;
  droppedAttributesCount: number;
}

/** A span as either encoding carried it: complete, but not yet judged. What is absent is `''`, `0` or empty, as in proto3. */
export interface OtlpSpan {
  readonly resource: OtlpResource;
  readonly scope: OtlpScope;
  /** Ids are lower-case hex of whatever length was sent; text that is no hex stays as it came. */
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState: string;
  name: string;
  /** Span.SpanKind by its number. */
  kind: number;
  /** Nanoseconds rounded to microseconds; 0 when absent. */
  start: Micros;
  end: Micros;
  attributes: Attributes;
  droppedAttributesCount: number;
  events: OtlpEvent[];
  droppedEventsCount: number;
  links: OtlpLink[];
  droppedLinksCount: number;
  /** Status.StatusCode by its number. */
  statusCode: number;
  statusMessage: string;
}

/** One export request, flattened: spans in the order they were sent. */
export interface OtlpTraces {
  readonly spans: OtlpSpan[];
}

export function newAttributes(): Attributes {
  return Object.create(null) as Attributes;
}

export function newResource(): OtlpResource {
  return { attributes: newAttributes(), droppedAttributesCount: 0, schemaUrl: '' };
}

export function newScope(): OtlpScope {
  return { name: '', version: '', attributes: newAttributes(), droppedAttributesCount: 0, schemaUrl: '' };
}

export function newEvent(): OtlpEvent {
  return { time: 0, name: '', attributes: newAttributes(), droppedAttributesCount: 0 };
}

export function newLink(): OtlpLink {
  return { traceId: '', spanId: '', traceState: '', attributes: newAttributes(), droppedAttributesCount: 0 };
}

export function newSpan(resource: OtlpResource, scope: OtlpScope): OtlpSpan {
  return {
    resource,
    scope,
    traceId: '',
    spanId: '',
    parentSpanId: '',
    traceState: '',
    name: '',
    kind: 0,
    start: 0,
    end: 0,
    attributes: newAttributes(),
    droppedAttributesCount: 0,
    events: [],
    droppedEventsCount: 0,
    links: [],
    droppedLinksCount: 0,
    statusCode: 0,
    statusMessage: '',
  };
}
