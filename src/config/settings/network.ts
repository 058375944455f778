import { Type } from '@sinclair/typebox';
import { HTTP_URL, text, whole } from './kinds.js';

/** Where the server listens, and what is in front of it. */
export const networkSettings = {
  PORT: whole({
    default: 4318,
    minimum: 0,
    maximum: 65535,
    description:
      'HTTP port for the API, OTLP/HTTP, pages and metrics. 4318 is the default port of OTLP/HTTP; 0 selects any ' +
      'free port.',
  }),
  HOST: text({
    default: '127.0.0.1',
    description: 'Address on which the server listens. `0.0.0.0` exposes it to the network.',
  }),
  OTLP_GRPC_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      defaultText: 'off',
      description: 'Port for OTLP over gRPC, usually 4317; 0 selects any free port. Unset: gRPC is disabled.',
    }),
  ),
  PUBLIC_URL: Type.Optional(
    text({
      pattern: HTTP_URL,
      must: 'be an http:// or https:// URL without query or fragment',
      defaultText: '`http://HOST:PORT`',
      description: 'Base of the URLs in responses (feedback links, images). Set it if the server is behind a proxy.',
    }),
  ),
  HSTS_DAYS: whole({
    default: 0,
    minimum: 0,
    maximum: 730,
    description:
      'Days for which browsers shall use HTTPS alone for the host of `PUBLIC_URL`, on all of its ports ' +
      '(`Strict-Transport-Security`). It needs an https:// URL there. 0: the server does not say, and your proxy may.',
  }),
  TRUSTED_PROXIES: whole({
    default: 0,
    minimum: 0,
    maximum: 10,
    description:
      'Number of your reverse proxies in front of the server. The server trusts that many entries at the end of ' +
      '`X-Forwarded-For` when it limits failed sign-ins and requests to feedback link pages by client address. With ' +
      '0 behind a proxy, all clients share one limit: ten failed sign-ins within a minute by any client keep all ' +
      'others from signing in.',
  }),
};
