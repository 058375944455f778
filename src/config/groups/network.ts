import { MEGABYTE, type Limits } from '../limits.js';
import type { Settings } from '../settings.js';

/** Memory for bodies, at least, in bodies of the largest size: one key may send two, and a compressed one is held twice. */
const LEAST_BODIES_IN_WORK = 4;

/** How clients reach the server, and what it takes of them at once. */
export function networkGroup(settings: Settings, limits: Limits) {
  return {
    http: {
      port: settings.PORT,
      host: settings.HOST,
      /** Null: derive it from the address listened on, see `publicUrl`. Never ends in a slash. */
      publicUrl: settings.PUBLIC_URL?.replace(/\/+$/, '') ?? null,
      maxBodyBytes: settings.MAX_BODY_MB * MEGABYTE,
      trustedProxies: settings.TRUSTED_PROXIES,
      /** For how long browsers use HTTPS alone; 0: they are not told. */
      hstsSeconds: settings.PUBLIC_URL?.startsWith('https:') === true ? settings.HSTS_DAYS * 86_400 : 0,
    },
    headersTimeoutMs: limits.headersTimeoutMs,
    /** Per listener. */
    maxConnections: settings.MAX_CONNECTIONS,
    bodies: {
      /** With an API key, all in work together. */
      memoryBytes: Math.max(settings.BODY_MEMORY_MB, LEAST_BODIES_IN_WORK * settings.MAX_BODY_MB) * MEGABYTE,
      /** Without one, besides. */
      publicMemoryBytes: limits.publicBodyMemoryBytes,
      timeoutMs: limits.uploadTimeoutMs,
      /** 0: no least rate. */
      minBytesPerSecond: limits.uploadMinBytesPerSecond,
      rateWindowMs: limits.uploadWindowMs,
    },
    /** Null: no gRPC. */
    grpcPort: settings.OTLP_GRPC_PORT ?? null,
    grpcCallsAtOnce: limits.grpcCallsAtOnce,
    /** Limits of feedback links. */
    reviews: {
      maxTextCharacters: limits.reviewTextCharacters,
      /** Reviewers of one link. */
      maxReviewers: limits.reviewers,
      /** Size of all reviews of one link. */
      maxBytes: limits.reviewBytes,
      requestsPerMinute: {
        link: limits.reviewRequestsPerMinute,
        address: limits.reviewRequestsPerMinuteOfAddress,
      },
    },
  };
}
