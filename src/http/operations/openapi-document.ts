import { Type } from '@sinclair/typebox';
import type { Json } from '../openapi.js';
import { defineRoute } from '../route.js';

/** @param document asked for at the first request, when every route is known */
export function openApiRoute(document: () => Json) {
  let json: string | undefined;
  return defineRoute({
    method: 'GET',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'Get the OpenAPI document',
    description: 'Generated from the definitions that also validate requests.',
    tag: 'Operations',
    access: 'public',
    responses: {
      200: { description: 'An OpenAPI 3.1 document.', schema: Type.Object({}, { description: 'The document.' }) },
    },
    errors: [],
    handle: () => ({ status: 200, json: (json ??= JSON.stringify(document())) }),
  });
}
