import { DomainError } from '../../domain/errors.js';
import { Budget, checkDepth, PARTS, plainDouble } from './budget.js';
import {
  newAttributes,
  newEvent,
  newLink,
  newResource,
  newScope,
  newSpan,
  type Attributes,
  type AttributeValue,
  type OtlpEvent,
  type OtlpLink,
  type OtlpResource,
  type OtlpScope,
  type OtlpSpan,
  type OtlpTraces,
} from './model.js';
import { OtlpReader } from './wire.js';

// Wire types of protobuf. A case below is `field number << 3 | wire type`, with the numbers of schema/otlp; a field that
// comes with another wire type is an unknown field, and unknown fields are skipped.
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

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
    throw new DomainError('malformed', `the body is no OTLP trace request in protobuf: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

class RequestDecoder {
  readonly #reader: OtlpReader;
  readonly #budget = new Budget();
  readonly #spans: OtlpSpan[] = [];

  constructor(bytes: Uint8Array) {
    this.#reader = new OtlpReader(bytes);
  }

  request(): OtlpTraces {
    const reader = this.#reader;
    const end = reader.len;
    while (reader.pos < end) {
      const tag = reader.tag();
      if (tag === ((1 << 3) | BYTES)) this.#resourceSpans(reader.enter(end));
      else this.#skip(tag);
    }
    reader.leave(end);
    return { spans: this.#spans };
  }

  #skip(tag: number): void {
    this.#reader.skipType(tag & 7, 0, tag >>> 3);
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
          this.#skip(tag);
      }
    }
    reader.leave(end);
  }

  #resource(resource: OtlpResource, end: number): void {
    const reader = this.#reader;
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | BYTES:
          this.#keyValue(resource.attributes, reader.enter(end), 1);
          break;
        case (2 << 3) | VARINT:
          resource.droppedAttributesCount = reader.uint32();
          break;
        default:
          this.#skip(tag);
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
          this.#skip(tag);
      }
    }
    reader.leave(end);
  }

  #scope(scope: OtlpScope, end: number): void {
    const reader = this.#reader;
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
          this.#keyValue(scope.attributes, reader.enter(end), 1);
          break;
        case (4 << 3) | VARINT:
          scope.droppedAttributesCount = reader.uint32();
          break;
        default:
          this.#skip(tag);
      }
    }
    reader.leave(end);
  }

  #span(span: OtlpSpan, end: number): void {
    const reader = this.#reader;
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
          this.#keyValue(span.attributes, reader.enter(end), 1);
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
          this.#skip(tag);
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
          this.#skip(tag);
      }
    }
    reader.leave(end);
  }

  #event(end: number): OtlpEvent {
    const reader = this.#reader;
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
          this.#keyValue(event.attributes, reader.enter(end), 1);
          break;
        case (4 << 3) | VARINT:
          event.droppedAttributesCount = reader.uint32();
          break;
        default:
          this.#skip(tag);
      }
    }
    reader.leave(end);
    return event;
  }

  #link(end: number): OtlpLink {
    const reader = this.#reader;
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
          this.#keyValue(link.attributes, reader.enter(end), 1);
          break;
        case (5 << 3) | VARINT:
          link.droppedAttributesCount = reader.uint32();
          break;
        default:
          this.#skip(tag);
      }
    }
    reader.leave(end);
    return link;
  }

  #keyValue(into: Attributes, end: number, depth: number): void {
    const reader = this.#reader;
    this.#budget.spend(PARTS.attribute);
    let key = '';
    let value: AttributeValue = null;
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | BYTES:
          key = reader.text();
          break;
        case (2 << 3) | BYTES:
          value = this.#anyValue(reader.enter(end), depth);
          break;
        default:
          this.#skip(tag);
      }
    }
    reader.leave(end);
    into[key] = value;
  }

  #anyValue(end: number, depth: number): AttributeValue {
    const reader = this.#reader;
    checkDepth(depth);
    let value: AttributeValue = null;
    while (reader.pos < end) {
      const tag = reader.tag();
      switch (tag) {
        case (1 << 3) | BYTES:
          value = reader.text();
          break;
        case (2 << 3) | VARINT:
          value = reader.bool();
          break;
        case (3 << 3) | VARINT:
          value = reader.integer();
          break;
        case (4 << 3) | FIXED64:
          value = plainDouble(reader.float64());
          break;
        case (5 << 3) | BYTES:
          value = this.#array(reader.enter(end), depth);
          break;
        case (6 << 3) | BYTES:
          value = this.#keyValueList(reader.enter(end), depth);
          break;
        case (7 << 3) | BYTES:
          value = reader.base64();
          break;
        default:
          this.#skip(tag);
      }
    }
    reader.leave(end);
    return value;
  }

  #array(end: number, depth: number): AttributeValue[] {
    const reader = this.#reader;
    const values: AttributeValue[] = [];
    this.#budget.spend(PARTS.list);
    while (reader.pos < end) {
      const tag = reader.tag();
      if (tag === ((1 << 3) | BYTES)) {
        this.#budget.spend(PARTS.element);
        values.push(this.#anyValue(reader.enter(end), depth + 1));
      } else this.#skip(tag);
    }
    reader.leave(end);
    return values;
  }

  #keyValueList(end: number, depth: number): Attributes {
    const reader = this.#reader;
    const values = newAttributes();
    this.#budget.spend(PARTS.list);
    while (reader.pos < end) {
      const tag = reader.tag();
      if (tag === ((1 << 3) | BYTES)) this.#keyValue(values, reader.enter(end), depth + 1);
      else this.#skip(tag);
    }
    reader.leave(end);
    return values;
  }
}
