import { DomainError } from '../engine/errors.js';
import { Budget, PARTS } from './budget.js';
import { AttributeDecoder } from './json-attributes.js';
import { dropped, enumeration, enumValue, list, micros, optional, record, text, type Json } from './json-values.js';
import {
  newEvent,
  newLink,
  newResource,
  newScope,
  newSpan,
  type OtlpEvent,
  type OtlpLink,
  type OtlpResource,
  type OtlpScope,
  type OtlpSpan,
  type OtlpTraces,
} from './model.js';

// OTLP/JSON is the JSON mapping of proto3 with hex ids. As that mapping asks of a reader: names in lowerCamelCase or as in
// the .proto, 64-bit numbers as text or number, enums as name or number, null for what is absent, unknown members ignored.

const SPAN_KINDS = enumeration('SPAN_KIND_', ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']);
const STATUS_CODES = enumeration('STATUS_CODE_', ['UNSET', 'OK', 'ERROR']);

/**
 * Decodes an ExportTraceServiceRequest from what JSON.parse made of it.
 * @throws DomainError `malformed`, naming the member, when it is not of that shape; `too_large` when it holds too many parts
 */
export function decodeJson(value: unknown): OtlpTraces {
  return new RequestDecoder().request(value);
}

class RequestDecoder {
  readonly #budget = new Budget();
  readonly #attributes = new AttributeDecoder(this.#budget);
  readonly #spans: OtlpSpan[] = [];
  /** Where the decoder is, for the message of an error; kept as numbers, since nearly every request is fine. */
  readonly #at = { resource: 0, scope: 0, span: -1 };

  request(value: unknown): OtlpTraces {
    try {
      const request = record(value, 'the body');
      for (const entry of list(request.resourceSpans ?? request.resource_spans, 'resourceSpans')) {
        this.#resourceSpans(record(entry, 'an element of resourceSpans'));
        this.#at.resource += 1;
      }
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'malformed') throw this.#located(error);
      throw error;
    }
    return { spans: this.#spans };
  }

  #located(error: DomainError): DomainError {
    const { resource, scope, span } = this.#at;
    const place =
      span < 0 ? `resourceSpans[${resource}]` : `resourceSpans[${resource}].scopeSpans[${scope}].spans[${span}]`;
    return new DomainError(
      'malformed',
      `the body is not a valid OTLP trace request in JSON: ${error.message} (at ${place})`,
    );
  }

  #resourceSpans(entry: Json): void {
    const resource = this.#resource(optional(entry.resource, 'resource'));
    resource.schemaUrl = text(entry.schemaUrl ?? entry.schema_url, 'schemaUrl');
    this.#budget.spend(PARTS.group);
    this.#at.scope = 0;
    for (const scopeSpans of list(entry.scopeSpans ?? entry.scope_spans, 'scopeSpans')) {
      this.#scopeSpans(resource, record(scopeSpans, 'an element of scopeSpans'));
      this.#at.scope += 1;
    }
  }

  #resource(entry: Json): OtlpResource {
    const resource = newResource();
    this.#attributes.decode(entry.attributes, resource.attributes);
    resource.droppedAttributesCount = dropped(entry, 'droppedAttributesCount', 'dropped_attributes_count');
    return resource;
  }

  #scopeSpans(resource: OtlpResource, entry: Json): void {
    const scope = this.#scope(optional(entry.scope, 'scope'));
    scope.schemaUrl = text(entry.schemaUrl ?? entry.schema_url, 'schemaUrl');
    this.#budget.spend(PARTS.group);
    this.#at.span = 0;
    for (const span of list(entry.spans, 'spans')) {
      this.#budget.spend(PARTS.span);
      this.#spans.push(this.#span(newSpan(resource, scope), record(span, 'an element of spans')));
      this.#at.span += 1;
    }
    this.#at.span = -1;
  }

  #scope(entry: Json): OtlpScope {
    const scope = newScope();
    scope.name = text(entry.name, 'name');
    scope.version = text(entry.version, 'version');
    this.#attributes.decode(entry.attributes, scope.attributes);
    scope.droppedAttributesCount = dropped(entry, 'droppedAttributesCount', 'dropped_attributes_count');
    return scope;
  }

  #span(span: OtlpSpan, entry: Json): OtlpSpan {
    span.traceId = text(entry.traceId ?? entry.trace_id, 'traceId').toLowerCase();
    span.spanId = text(entry.spanId ?? entry.span_id, 'spanId').toLowerCase();
    span.parentSpanId = text(entry.parentSpanId ?? entry.parent_span_id, 'parentSpanId').toLowerCase();
    span.traceState = text(entry.traceState ?? entry.trace_state, 'traceState');
    span.name = text(entry.name, 'name');
    span.kind = enumValue(entry.kind, SPAN_KINDS, 'kind');
    span.start = micros(entry.startTimeUnixNano ?? entry.start_time_unix_nano, 'startTimeUnixNano');
    span.end = micros(entry.endTimeUnixNano ?? entry.end_time_unix_nano, 'endTimeUnixNano');
    this.#attributes.decode(entry.attributes, span.attributes);
    span.droppedAttributesCount = dropped(entry, 'droppedAttributesCount', 'dropped_attributes_count');
    for (const event of list(entry.events, 'events')) span.events.push(this.#event(record(event, 'an event')));
    span.droppedEventsCount = dropped(entry, 'droppedEventsCount', 'dropped_events_count');
    for (const link of list(entry.links, 'links')) span.links.push(this.#link(record(link, 'a link')));
    span.droppedLinksCount = dropped(entry, 'droppedLinksCount', 'dropped_links_count');
    const status = optional(entry.status, 'status');
    span.statusCode = enumValue(status.code, STATUS_CODES, 'status.code');
    span.statusMessage = text(status.message, 'status.message');
    return span;
  }

  #event(entry: Json): OtlpEvent {
    const event = newEvent();
    this.#budget.spend(PARTS.event);
    event.time = micros(entry.timeUnixNano ?? entry.time_unix_nano, 'timeUnixNano');
    event.name = text(entry.name, 'name');
    this.#attributes.decode(entry.attributes, event.attributes);
    event.droppedAttributesCount = dropped(entry, 'droppedAttributesCount', 'dropped_attributes_count');
    return event;
  }

  #link(entry: Json): OtlpLink {
    const link = newLink();
    this.#budget.spend(PARTS.link);
    link.traceId = text(entry.traceId ?? entry.trace_id, 'traceId').toLowerCase();
    link.spanId = text(entry.spanId ?? entry.span_id, 'spanId').toLowerCase();
    link.traceState = text(entry.traceState ?? entry.trace_state, 'traceState');
    this.#attributes.decode(entry.attributes, link.attributes);
    link.droppedAttributesCount = dropped(entry, 'droppedAttributesCount', 'dropped_attributes_count');
    return link;
  }
}
