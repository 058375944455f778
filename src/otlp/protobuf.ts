import { DomainError } from '../engine/errors.js';
import { Budget, PARTS } from './budget.js';
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
import { AttributeDecoder } from './protobuf-attributes.js';
import { BYTES, FIXED64, OtlpReader, VARINT } from './wire.js';

/**
 * Decodes an ExportTraceServiceRequest. Written by hand on protobufjs' reader because it is the hot path: attributes
 * become plain objects at once, with no message objects in between. The tests hold it against schema/otlp.
 * @throws DomainError `malformed` when the bytes are no such message, `too_large` when it holds too many parts
 */
export function decodeProtobuf(bytes: Uint8Array): OtlpTraces {
  try {
    return new RequestDecoder(bytes).request();
  } catch (error) {
    if (error instanceof DomainError || error instanceof TypeError || error instanceof ReferenceError) throw error;
    throw new DomainError(
      'malformed',
      `the body is not a valid OTLP trace request in protobuf: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}

class RequestDecoder {
  readonly #reader: OtlpReader;
  readonly #budget = new Budget();
  readonly #attributes: AttributeDecoder;
  readonly #spans: OtlpSpan[] = [];

  constructor(bytes: Uint8Array) {
    this.#reader = new OtlpReader(bytes);
    this.#attributes = new AttributeDecoder(this.#reader, this.#budget);
  }

  request(): OtlpTraces {
    const reader = this.#reader;
    const end = reader.len;
    while (reader.pos < end) {
      const tag = reader.tag();
      if (tag === ((1 << 3) | BYTES)) this.#resourceSpans(reader.enter(end));
      else reader.skipField(tag);
    }
    reader.leave(end);
    return { spans: this.#spans };
  }

  #resourceSpans(end: number): void {
    const reader = this.#reader;
    const resource = newResource();
    this.#budget.spend(PARTS.group);
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | BYTES:
          this.#resource(resource, reader.enter(end));
          break;
        case (2 << 3) | BYTES:
          this.#scopeSpans(resource, reader.enter(end));
          break;
        case (3 << 3) | BYTES:
          resource.schemaUrl = reader.text();
          break;
        default:
          reader.skipField(tag);
      }
    }
    reader.leave(end);
  }

  #resource(resource: OtlpResource, end: number): void {
    const reader = this.#reader;
    const attributes = this.#attributes;
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | BYTES:
          attributes.read(resource.attributes, reader.enter(end));
          break;
        case (2 << 3) | VARINT:
          resource.droppedAttributesCount = reader.uint32();
          break;
        default:
          reader.skipField(tag);
      }
    }
    reader.leave(end);
  }

  #scopeSpans(resource: OtlpResource, end: number): void {
    const reader = this.#reader;
    const scope = newScope();
    this.#budget.spend(PARTS.group);
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | BYTES:
          this.#scope(scope, reader.enter(end));
          break;
        case (2 << 3) | BYTES: {
          const span = newSpan(resource, scope);
          this.#budget.spend(PARTS.span);
          this.#span(span, reader.enter(end));
          this.#spans.push(span);
          break;
        }
        case (3 << 3) | BYTES:
          scope.schemaUrl = reader.text();
          break;
        default:
          reader.skipField(tag);
      }
    }
    reader.leave(end);
  }

  #scope(scope: OtlpScope, end: number): void {
    const reader = this.#reader;
    const attributes = this.#attributes;
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | BYTES:
          scope.name = reader.text();
          break;
        case (2 << 3) | BYTES:
          scope.version = reader.text();
          break;
        case (3 << 3) | BYTES:
          attributes.read(scope.attributes, reader.enter(end));
          break;
        case (4 << 3) | VARINT:
          scope.droppedAttributesCount = reader.uint32();
          break;
        default:
          reader.skipField(tag);
      }
    }
    reader.leave(end);
  }

  #span(span: OtlpSpan, end: number): void {
    const reader = this.#reader;
    const attributes = this.#attributes;
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | BYTES:
          span.traceId = reader.hex();
          break;
        case (2 << 3) | BYTES:
          span.spanId = reader.hex();
          break;
        case (3 << 3) | BYTES:
          span.traceState = reader.text();
          break;
        case (4 << 3) | BYTES:
          span.parentSpanId = reader.hex();
          break;
        case (5 << 3) | BYTES:
          span.name = reader.text();
          break;
        case (6 << 3) | VARINT:
          span.kind = reader.int32();
          break;
        case (7 << 3) | FIXED64:
          span.start = reader.micros();
          break;
        case (8 << 3) | FIXED64:
          span.end = reader.micros();
          break;
        case (9 << 3) | BYTES:
          attributes.read(span.attributes, reader.enter(end));
          break;
        case (10 << 3) | VARINT:
          span.droppedAttributesCount = reader.uint32();
          break;
        case (11 << 3) | BYTES:
          span.events.push(this.#event(reader.enter(end)));
          break;
        case (12 << 3) | VARINT:
          span.droppedEventsCount = reader.uint32();
          break;
        case (13 << 3) | BYTES:
          span.links.push(this.#link(reader.enter(end)));
          break;
        case (14 << 3) | VARINT:
          span.droppedLinksCount = reader.uint32();
          break;
        case (15 << 3) | BYTES:
          this.#status(span, reader.enter(end));
          break;
        default:
          reader.skipField(tag);
      }
    }
    reader.leave(end);
  }

  #status(span: OtlpSpan, end: number): void {
    const reader = this.#reader;
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (2 << 3) | BYTES:
          span.statusMessage = reader.text();
          break;
        case (3 << 3) | VARINT:
          span.statusCode = reader.int32();
          break;
        default:
          reader.skipField(tag);
      }
    }
    reader.leave(end);
  }

  #event(end: number): OtlpEvent {
    const reader = this.#reader;
    const attributes = this.#attributes;
    const event = newEvent();
    this.#budget.spend(PARTS.event);
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | FIXED64:
          event.time = reader.micros();
          break;
        case (2 << 3) | BYTES:
          event.name = reader.text();
          break;
        case (3 << 3) | BYTES:
          attributes.read(event.attributes, reader.enter(end));
          break;
        case (4 << 3) | VARINT:
          event.droppedAttributesCount = reader.uint32();
          break;
        default:
          reader.skipField(tag);
      }
    }
    reader.leave(end);
    return event;
  }

  #link(end: number): OtlpLink {
    const reader = this.#reader;
    const attributes = this.#attributes;
    const link = newLink();
    this.#budget.spend(PARTS.link);
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | BYTES:
          link.traceId = reader.hex();
          break;
        case (2 << 3) | BYTES:
          link.spanId = reader.hex();
          break;
        case (3 << 3) | BYTES:
          link.traceState = reader.text();
          break;
        case (4 << 3) | BYTES:
          attributes.read(link.attributes, reader.enter(end));
          break;
        case (5 << 3) | VARINT:
          link.droppedAttributesCount = reader.uint32();
          break;
        default:
          reader.skipField(tag);
      }
    }
    reader.leave(end);
    return link;
  }
}
