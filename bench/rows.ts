import { readElements } from '../src/features/traces/elements.js';
import { spanReader } from '../src/features/traces/readers.js';
import { describedSpan, type SpanSources } from '../src/engine/traces/model/span/described-span.js';
import { createListPrices } from '../src/engine/traces/model/span/pricing.js';
import type { Span } from '../src/engine/traces/model/span/span.js';
import { hasError } from '../src/engine/traces/model/span/span-read.js';
import { UnknownNames } from '../src/engine/validation/unknown-names.js';
import { writeUint64 } from '../src/engine/traces/write/row-binary.js';
import { RowEncoder } from '../src/engine/traces/write/rows.js';
import type { Version } from '../src/engine/traces/write/version-clock.js';
import { decodeProtobuf } from '../src/otlp/protobuf.js';
import { toSpans } from '../src/otlp/span.js';
import { generateTrace, type GeneratedSpan } from './data.js';

export const PROJECT_ID = '0197f3a0-0000-7000-8000-00000000be9c';

/** A project without prompts. */
const sources: SpanSources = {
  price: createListPrices(),
  prompts: { versionNamed: () => undefined, slugNamed: () => undefined },
};

/** Spans as the server stores them: checked, normalized and priced. */
export function storedSpans(sent: readonly GeneratedSpan[]): Span[] {
  const { elements } = readElements(sent, spanReader, new UnknownNames());
  return elements.map((span) => describedSpan(span, PROJECT_ID, sources));
}

/** Spans of an OTLP request in protobuf, as the server stores them. */
export function storedOtlpSpans(body: Buffer): Span[] {
  return toSpans(decodeProtobuf(body)).spans.map((span) => describedSpan(span, PROJECT_ID, sources));
}

/** Rows of the table `spans`, one after the other, as RowBinary. */
export interface BinaryRows {
  readonly bytes: Buffer;
  /** Where each row begins; its version stands there. */
  readonly starts: readonly number[];
}

/** @param first version of the first row; the others follow it. */
export function binaryRows(spans: readonly Span[], first: Version): BinaryRows {
  const [encoded] = new RowEncoder().encode({ projectId: PROJECT_ID, spans });
  if (encoded === undefined) return { bytes: Buffer.alloc(0), starts: [] };
  encoded.versionOffsets.forEach((offset, index) => {
    writeUint64(encoded.bytes, offset, first + index);
  });
  return { bytes: encoded.bytes, starts: encoded.versionOffsets };
}

/** The same rows as JSONEachRow, one per line. */
export function jsonRows(spans: readonly Span[], first: Version): string[] {
  return spans.map(({ input_data, output_data, call, ...span }, index) =>
    JSON.stringify({
      ...span,
      ...call,
      payload: (input_data ?? '') + (output_data ?? ''),
      input_bytes: input_data === null ? null : Buffer.byteLength(input_data),
      no_output: output_data === null ? 1 : 0,
      ver: first + index,
      project_id: PROJECT_ID,
      session_name: span.session_name ?? '',
      status: span.status ?? '',
      started_at: sqlTime(span.started_at),
      ended_at: span.ended_at === null ? null : sqlTime(span.ended_at),
      cost: span.cost?.toFixed(12) ?? null,
      attributes: JSON.stringify(span.attributes),
      has_error: hasError(span) ? 1 : 0,
    }),
  );
}

function sqlTime(micros: number): string {
  const moment = new Date(Math.floor(micros / 1000)).toISOString();
  return `${moment.slice(0, 19).replace('T', ' ')}.${String(micros % 1_000_000).padStart(6, '0')}`;
}

/** The spans of the traces `from` up to but not `to`. */
export function generateSpans(seed: number, from: number, to: number): GeneratedSpan[] {
  return Array.from({ length: to - from }, (_none, index) => generateTrace(seed, from + index)).flat();
}
