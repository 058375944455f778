import { whole } from './kinds.js';

/** What requests may bring, how slowly and how many at once. */
export const requestSettings = {
  MAX_BODY_MB: whole({
    default: 32,
    minimum: 1,
    maximum: 512,
    description: 'Maximum size of a request body, before and after decompression. Larger bodies get 413.',
  }),
  // At most 256, like COMMIT_MAX_MB: an insert stores all or nothing as long as ClickHouse takes it as one block.
  MAX_ENCODED_MB: whole({
    default: 64,
    minimum: 1,
    maximum: 256,
    description:
      'Maximum encoded size of the data that one request stores. Larger requests get 413. Twice `MAX_BODY_MB` is ' +
      'suitable: rows are larger than the body if spans share an OpenTelemetry resource, which is stored with each ' +
      'of them, or if JSON needs escapes. The embedded ClickHouse needs eight times as much memory ' +
      '(`ENGINE_MEMORY_MB`).',
  }),
  MAX_TAG_BYTES: whole({
    default: 262_144,
    minimum: 1024,
    maximum: 536_870_912,
    description:
      'Maximum total size of the keys and values of one `tags`, `trace_tags` or `session_tags`. With more, a ' +
      'request gets 422, and OTLP refuses only that span. All tags of a trace are held in memory together.',
  }),
  BODY_MEMORY_MB: whole({
    default: 128,
    minimum: 1,
    maximum: 65_536,
    description:
      'Memory for request bodies sent with an API key, and for OTLP messages over gRPC. One project may use as much ' +
      'as is left free, which is half if it is the only one. Further requests get 429. At least four times ' +
      '`MAX_BODY_MB` is used.',
  }),
  PUBLIC_BODY_MEMORY_MB: whole({
    default: 16,
    minimum: 8,
    maximum: 65_536,
    description:
      'Memory for request bodies sent without an API key, which are reviews at feedback links. One address may use ' +
      'as much as is left free. Further requests get 429.',
  }),
  HEADERS_TIMEOUT_SECONDS: whole({
    default: 15,
    minimum: 1,
    maximum: 600,
    description: 'Maximum time for the headers of a request to arrive. Slower requests get 408.',
  }),
  UPLOAD_TIMEOUT_SECONDS: whole({
    default: 60,
    minimum: 1,
    maximum: 3600,
    description: 'Maximum time for a request body to arrive. Slower requests get 408.',
  }),
  UPLOAD_MIN_BYTES_PER_SECOND: whole({
    default: 1024,
    minimum: 0,
    maximum: 1_073_741_824,
    description:
      'Minimum rate at which a request body must arrive. Slower bodies get 408, unless they are small enough to ' +
      'arrive within `UPLOAD_TIMEOUT_SECONDS` anyway. 0: no limit.',
  }),
  UPLOAD_WINDOW_SECONDS: whole({
    default: 5,
    minimum: 1,
    maximum: 600,
    description:
      'Seconds over which the rate of `UPLOAD_MIN_BYTES_PER_SECOND` is measured. The first period is not checked.',
  }),
  MAX_CONNECTIONS: whole({
    default: 4096,
    minimum: 16,
    maximum: 1_000_000,
    description:
      'Maximum number of open connections, for HTTP and for gRPC each. One address (a /64 of IPv6) may have as many ' +
      'as are left free, which is half if it is the only one. Further connections get 503 over HTTP and are closed ' +
      'over gRPC.',
  }),
  OTLP_GRPC_CALLS_AT_ONCE: whole({
    default: 64,
    minimum: 2,
    maximum: 100_000,
    description:
      'Maximum number of concurrent gRPC calls. One project may have as many as are left free, and one connection ' +
      'half of them. Further calls are refused with RESOURCE_EXHAUSTED.',
  }),
};
