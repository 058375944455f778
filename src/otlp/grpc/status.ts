import { Metadata, status, type StatusObject } from '@grpc/grpc-js';
import protobuf from 'protobufjs/minimal.js';
import { DomainError, type DomainErrorKind } from '../../engine/errors.js';
import { isRetryable } from '../../engine/work/retryable.js';
import { BYTES, VARINT } from '../wire.js';

/** The gRPC status of each kind of domain error. */
const CODES: Readonly<Record<DomainErrorKind, status>> = {
  malformed: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  method_not_allowed: status.UNIMPLEMENTED,
  conflict: status.FAILED_PRECONDITION,
  too_large: status.RESOURCE_EXHAUSTED,
  unsupported_media: status.INVALID_ARGUMENT,
  invalid: status.INVALID_ARGUMENT,
  overloaded: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  internal: status.INTERNAL,
};

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';
const DETAILS = 'grpc-status-details-bin';

/**
 * The status an error stands for. What a client should send again carries a google.rpc.RetryInfo: without one, OTLP
 * counts RESOURCE_EXHAUSTED as final. Nothing of an unexpected error gets out.
 */
export function toStatus(error: unknown): StatusObject {
  if (!(error instanceof DomainError) || error.kind === 'internal') {
    return { code: status.INTERNAL, details: 'Internal server error; see the server log', metadata: new Metadata() };
  }
  const code = CODES[error.kind];
  const metadata = new Metadata();
  if (isRetryable(error)) {
    const seconds = Math.max(1, Math.ceil(error.retryAfterSeconds ?? 1));
    metadata.set(DETAILS, retryDetails(code, error.message, seconds));
  }
  return { code, details: error.message, metadata };
}

/** Why a call is refused that is to be sent again later; undefined: it is not. */
export function refusalOf(sent: Pick<StatusObject, 'details'> & { metadata?: Metadata | null | undefined }) {
  const comesAgain = sent.metadata?.get(DETAILS).length === 1;
  return comesAgain ? sent.details : undefined;
}

/** A google.rpc.Status whose one detail is a RetryInfo. */
function retryDetails(code: status, message: string, seconds: number): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32((1 << 3) | VARINT).int32(code);
  writer.uint32((2 << 3) | BYTES).string(message);
  writer.uint32((3 << 3) | BYTES).fork(); // details: google.protobuf.Any
  writer.uint32((1 << 3) | BYTES).string(RETRY_INFO);
  writer.uint32((2 << 3) | BYTES).fork(); // value: RetryInfo
  writer.uint32((1 << 3) | BYTES).fork(); // retry_delay: Duration
  writer.uint32((1 << 3) | VARINT).int64(seconds);
  writer.ldelim().ldelim().ldelim();
  return Buffer.from(writer.finish());
}
