import { Type } from '@sinclair/typebox';
import { defineRoute } from '../route.js';

const Health = Type.Object(
  { status: Type.Literal('ok', { description: 'The process is up.' }) },
  { description: 'Liveness.' },
);

export function healthRoute() {
  return defineRoute({
    method: 'GET',
    path: '/healthz',
    operationId: 'getHealth',
    summary: 'Check whether the process is up',
    description: 'Responds without using a store. For readiness, see `/readyz`.',
    tag: 'Operations',
    access: 'public',
    responses: { 200: { description: 'The process is up.', schema: Health } },
    errors: [],
    handle: () => ({ status: 200, body: { status: 'ok' as const } }),
  });
}
