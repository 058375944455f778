import { createHash, timingSafeEqual } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { bearerToken } from '../../engine/identity/api-key.js';
import { requireOwnHost, type OwnNames } from '../own-host.js';
import { defineRoute } from '../route.js';

/** The source of exposed metrics, such as a prom-client registry. */
export interface MetricsSource {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** @param token null: open to everyone but pages of others */
export function metricsRoute(source: MetricsSource, token: string | null, names: OwnNames) {
  return defineRoute({
    method: 'GET',
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Get metrics for Prometheus',
    description:
      'Requires `Authorization: Bearer $METRICS_TOKEN` if that variable is set, never an API key. Otherwise it is ' +
      "open, except to browsers that use another site's host name.",
    tag: 'Operations',
    access: 'public',
    responses: {
      200: {
        description: 'The metrics.',
        contentType: 'text/plain',
        schema: Type.String({ description: 'Prometheus text format.' }),
      },
    },
    errors: ['unauthenticated', 'forbidden'],
    admit({ headers }) {
      if (token === null) requireOwnHost(headers, names);
    },
    async handle({ headers }) {
      if (token !== null && !sameToken(bearerToken(headers.authorization) ?? '', token)) {
        throw new DomainError('unauthenticated', 'Metrics require Authorization: Bearer <METRICS_TOKEN>');
      }
      return { status: 200, content: await source.metrics(), contentType: source.contentType };
    },
  });
}

/** Compares digests, so that neither the content nor the length shows in the time it takes. */
function sameToken(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
