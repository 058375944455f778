import { BYTES, FIXED64, OtlpReader } from '../../../src/otlp/wire.js';
import { membersIn, objectIn, textOf } from '../members.js';

/** A span as far as it is counted. */
export interface CountedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly isRoot: boolean;
  /** In microseconds. */
  readonly start: number;
}

/** The spans of a message in JSON; null: it is none. */
export function spansInJson(bytes: Buffer): CountedSpan[] | null {
  const message = objectIn(bytes);
  const resources = message?.['resourceSpans'];
  if (!Array.isArray(resources)) return null;
  const scopes = membersIn(resources).flatMap((each) =>
    membersIn(each['scopeSpans'] ?? each['instrumentationLibrarySpans']),
  );
  return scopes
    .flatMap(({ spans }) => membersIn(spans))
    .map(({ traceId, spanId, parentSpanId, startTimeUnixNano }) => ({
      traceId: textOf(traceId) ?? '',
      spanId: textOf(spanId) ?? '',
      isRoot: textOf(parentSpanId) === null,
      start: Math.floor(Number(startTimeUnixNano) / 1000) || 0,
    }));
}

const field = (number: number) => (number << 3) | BYTES;
const [RESOURCE_SPANS, SCOPE_SPANS, SPANS] = [field(1), field(2), field(2)];
const [TRACE_ID, SPAN_ID, PARENT_SPAN_ID] = [field(1), field(2), field(4)];
const START = (7 << 3) | FIXED64;

/** The spans of a message in protobuf; null: it is none. */
export function spansInProtobuf(bytes: Buffer): CountedSpan[] | null {
  const reader = new OtlpReader(bytes);
  const found: CountedSpan[] = [];
  try {
    within(reader, reader.len, RESOURCE_SPANS, (end) =>
      within(reader, end, SCOPE_SPANS, (end) => within(reader, end, SPANS, (end) => found.push(spanIn(reader, end)))),
    );
    return found;
  } catch {
    return null;
  }
}

/** Reads the messages of one field, and skips all others. */
function within(reader: OtlpReader, end: number, wanted: number, read: (end: number) => unknown): void {
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag !== wanted) {
      reader.skipField(tag);
      continue;
    }
    const inner = reader.enter(end);
    read(inner);
    reader.leave(inner);
  }
}

function spanIn(reader: OtlpReader, end: number): CountedSpan {
  let start = 0;
  const ids = { [TRACE_ID]: '', [SPAN_ID]: '', [PARENT_SPAN_ID]: '' };
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag in ids) ids[tag] = reader.hex();
    else if (tag === START) start = reader.micros();
    else reader.skipField(tag);
  }
  const isRoot = /^0*$/.test(ids[PARENT_SPAN_ID] ?? '');
  return { traceId: ids[TRACE_ID] ?? '', spanId: ids[SPAN_ID] ?? '', isRoot, start };
}
