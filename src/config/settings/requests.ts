import { whole } from './kinds.js';

/** What requests may bring, how slowly and how many at once. */
export const requestSettings = {
  MAX_BODY_MB: whole({
    default: 32,
    minimum: 1,
    maximum: 512,
    description: 'Largest request body, before and after decompression; a larger one is answered 413.',
  }),
  // At most 256, like COMMIT_MAX_MB: an insert stores all or nothing as long as ClickHouse takes it as one block.
  MAX_ENCODED_MB: whole({
    default: 64,
    minimum: 1,
    maximum: 256,
    description:
      'Most data that one request may store; with more it is answered 413. Twice `MAX_BODY_MB` suits: rows take more than a body where ' +
      'spans share an OpenTelemetry resource, which is stored with each of them, and where JSON needs escapes. The embedded ClickHouse needs ' +
      'eight times as much memory (`ENGINE_MEMORY_MB`).',
  }),
  MAX_TAG_BYTES: whole({
    default: 262_144,
    minimum: 1024,
    maximum: 536_870_912,
    description:
      'Most bytes that the keys and values of one `tags`, `trace_tags` or `session_tags` may have together; with more, ' +
      'a request is answered 422, and OTLP refuses that span alone. All tags of a trace are held in memory together.',
  }),
  BODY_MEMORY_MB: whole({
    default: 128,
    minimum: 1,
    maximum: 65_536,
    description:
      'Memory for request bodies sent with an API key, and for OTLP messages over gRPC; one project may use as much as is ' +
      'left free, so half when it is the only one. Requests beyond that are answered 429. At least four times `MAX_BODY_MB` is used.',
  }),
  PUBLIC_BODY_MEMORY_MB: whole({
    default: 16,
    minimum: 8,
    maximum: 65_536,
    description:
      'Memory for request bodies sent without an API key, which are reviews at feedback links; one address may use as much as is ' +
      'left free. Requests beyond that are answered 429.',
  }),
  HEADERS_TIMEOUT_SECONDS: whole({
    default: 15,
    minimum: 1,
    maximum: 600,
    description: 'Longest time that the headers of a request may take to arrive; a slower one is answered 408.',
  }),
  UPLOAD_TIMEOUT_SECONDS: whole({
    default: 60,
    minimum: 1,
    maximum: 3600,
    description: 'Longest time that a request body may take to arrive; a slower one is answered 408.',
  }),
  UPLOAD_MIN_BYTES_PER_SECOND: whole({
    default: 1024,
    minimum: 0,
    maximum: 1_073_741_824,
    description:
      'Lowest rate at which a request body may arrive. A slower one is answered 408, unless it is so small that it would be whole ' +
      'within `UPLOAD_TIMEOUT_SECONDS` all the same. 0: no limit.',
  }),
  UPLOAD_WINDOW_SECONDS: whole({
    default: 5,
    minimum: 1,
    maximum: 600,
    description:
      'Seconds over which the rate of `UPLOAD_MIN_BYTES_PER_SECOND` is measured; the first ones are not checked.',
  }),
  MAX_CONNECTIONS: whole({
    default: 4096,
    minimum: 16,
    maximum: 1_000_000,
    description:
      'Most open connections, for HTTP and for gRPC each; one address (a /64 of IPv6) may have as many as are left ' +
      'free, so half when it is the only one. More are answered 503 over HTTP and closed over gRPC.',
  }),
  OTLP_GRPC_CALLS_AT_ONCE: whole({
    default: 64,
    minimum: 2,
    maximum: 100_000,
    description:
      'Most gRPC calls served at once; one project may have as many as are left free, and one connection half of them. ' +
      'More are refused with RESOURCE_EXHAUSTED.',
  }),
};
