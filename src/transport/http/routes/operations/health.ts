import { Type } from '@sinclair/typebox';
import { defineRoute, type Route } from '../../route.js';

const Health = Type.Object(
  { status: Type.Literal('ok', { description: 'The process is up.' }) },
  { description: 'Liveness.' },
);

export function healthRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: '/healthz',
    operationId: 'getHealth',
    summary: 'Is the process up?',
    description: 'Answers without touching a store. For readiness see `/readyz`.',
    tag: 'Operations',
    access: 'public',
    responses: { 200: { description: 'The process is up.', schema: Health } },
    errors: [],
    handle: () => ({ status: 200, body: { status: 'ok' } }),
  });
}
