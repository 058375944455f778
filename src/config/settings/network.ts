import { Type } from '@sinclair/typebox';
import { HTTP_URL, text, whole } from './kinds.js';

/** Where the server listens, and what is in front of it. */
export const networkSettings = {
  PORT: whole({
    default: 4318,
    minimum: 0,
    maximum: 65535,
    description:
      'Port for HTTP: API, OTLP/HTTP, pages and metrics. 4318 is the usual port of OTLP/HTTP; 0 takes any free one.',
  }),
  HOST: text({
    default: '127.0.0.1',
    description: 'Address that the server listens on. `0.0.0.0` opens it to the network.',
  }),
  OTLP_GRPC_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      defaultText: 'off',
      description: 'Port for OTLP over gRPC, usually 4317; 0 takes any free one. Unset: no gRPC.',
    }),
  ),
  PUBLIC_URL: Type.Optional(
    text({
      pattern: HTTP_URL,
      must: 'be an http:// or https:// URL without query or fragment',
      defaultText: '`http://HOST:PORT`',
      description: 'Base of the URLs in answers (feedback links, images); set it when the server is behind a proxy.',
    }),
  ),
  TRUSTED_PROXIES: whole({
    default: 0,
    minimum: 0,
    maximum: 10,
    description:
      'Number of your reverse proxies in front of the server. That many entries at the end of `X-Forwarded-For` are trusted when failed sign-ins and requests to pages of feedback links are limited by client address. With 0 behind a proxy, all clients share one limit: ten failed sign-ins of anyone within a minute keep everyone from signing in.',
  }),
};
