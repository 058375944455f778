import protobuf from 'protobufjs/minimal.js';

/** The two encodings of OTLP/HTTP: `application/json` and `application/x-protobuf`. */
export type OtlpEncoding = 'json' | 'protobuf';

/** ExportTracePartialSuccess: some spans were refused; with `rejectedSpans` 0 the message is a warning. */
export interface PartialSuccess {
  readonly rejectedSpans: number;
  readonly errorMessage: string;
}

/** The values of google.rpc.Code that the OTLP endpoint answers with. */
export const RPC_CODE = {
  invalid_argument: 3,
  deadline_exceeded: 4,
  permission_denied: 7,
  resource_exhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const VARINT = 0;
const BYTES = 2;

/** An ExportTraceServiceResponse; without `partialSuccess` (or with an empty one) it says that every span was accepted. */
export function encodeResponse(encoding: OtlpEncoding, partialSuccess: PartialSuccess | null): Uint8Array {
  const partial =
    partialSuccess !== null && (partialSuccess.rejectedSpans > 0 || partialSuccess.errorMessage !== '')
      ? partialSuccess
      : null;
  if (encoding === 'json') {
    // an int64 is text in the JSON mapping of proto3
    return json(
      partial === null ? {} : { partialSuccess: { ...partial, rejectedSpans: String(partial.rejectedSpans) } },
    );
  }
  const writer = protobuf.Writer.create();
  if (partial !== null) {
    writer.uint32((1 << 3) | BYTES).fork();
    if (partial.rejectedSpans > 0) writer.uint32((1 << 3) | VARINT).int64(partial.rejectedSpans);
    if (partial.errorMessage !== '') writer.uint32((2 << 3) | BYTES).string(partial.errorMessage);
    writer.ldelim();
  }
  return writer.finish();
}

/** A google.rpc.Status, which OTLP answers with when it refuses a whole request. `code` is one of {@link RPC_CODE}. */
export function encodeStatus(encoding: OtlpEncoding, code: number, message: string): Uint8Array {
  if (encoding === 'json') return json({ code, message });
  const writer = protobuf.Writer.create();
  if (code !== 0) writer.uint32((1 << 3) | VARINT).int32(code);
  if (message !== '') writer.uint32((2 << 3) | BYTES).string(message);
  return writer.finish();
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value), 'utf8');
}
