import { Type } from '@sinclair/typebox';
import { DEFAULT_KEY_ACCESS } from '../../../../domain/identity/key-access.js';
import type { IdentityService } from '../../../../domain/identity/identity-service.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { toCreatedKeyRead } from './presenters.js';
import { access, ApiKeyCreated, ProjectParams } from './schema.js';

const ApiKeyCreate = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '\\S',
      'x-must': 'have 1 to 200 characters, not only spaces',
      description: 'Name of the key, such as its purpose.',
    }),
    access: Type.Optional({ ...access, default: DEFAULT_KEY_ACCESS }),
  },
  { $id: 'ApiKeyCreate', description: 'An API key to create.' },
);

export function createApiKeyRoute(identity: Pick<IdentityService, 'createKey'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/api-keys',
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description:
      'Creates a key for the project, on behalf of the calling user. Only this response contains the key itself. ' +
      'For a program that only sends spans, use the access `ingest`; for one that only shows them, `read`.',
    tag: 'API keys',
    access: 'key',
    params: ProjectParams,
    body: jsonBody(ApiKeyCreate),
    responses: { 201: { description: 'The new key.', schema: ApiKeyCreated } },
    errors: ['conflict', 'unavailable'],
    handle({ principal, params, body }) {
      const { project_id: projectId } = params;
      const created = identity.createKey({ projectId, userId: principal.user_id, ...body }, principal);
      return { status: 201, body: toCreatedKeyRead(created) };
    },
  });
}
