import { whole } from './kinds.js';

/** What requests may bring, how slowly and how many at once. */
export const requestSettings = {
  MAX_BODY_MB: whole({
    default: 32,
    minimum: 1,
    maximum: 512,
    description: 'Maximum size of a request body, before and after decompression. Larger bodies get 413.',
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
  MAX_CONNECTIONS: whole({
    default: 4096,
    minimum: 16,
    maximum: 1_000_000,
    description:
      'Maximum number of open connections, for HTTP and for gRPC each. One address (a /64 of IPv6) may have as many ' +
      'as are left free, which is half if it is the only one. Further connections get 503 over HTTP and are closed ' +
      'over gRPC.',
  }),
};
