import { Type } from '@sinclair/typebox';
import { publicKeyOf } from '../../../engine/identity/api-key.js';
import type { IdentityService } from '../../../engine/identity/identity-service.js';
import type { ApiKey, CreatedApiKey, ListedApiKey } from '../../../engine/identity/identity.js';
import { DEFAULT_KEY_ACCESS } from '../../../engine/identity/key-access.js';
import type { Micros } from '../../../engine/timestamp.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { access, ApiKeyCreated, ApiKeyParams, ApiKeyRead, ProjectParams } from './schema.js';

/** Keys of a project. */
export function apiKeyRoutes(identity: IdentityService) {
  return [createApiKeyRoute(identity), listApiKeysRoute(identity), revokeApiKeyRoute(identity)];
}

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

function createApiKeyRoute(identity: Pick<IdentityService, 'createKey'>) {
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

function listApiKeysRoute(identity: Pick<IdentityService, 'listKeys'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/api-keys',
    operationId: 'listApiKeys',
    summary: 'List the API keys of the project',
    description: 'Returns keys that are not revoked, oldest first. A project has at most 1,000.',
    tag: 'API keys',
    access: 'key',
    params: ProjectParams,
    responses: { 200: listOf(ApiKeyRead, 'The keys.') },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: identity.listKeys(params.project_id).map(toApiKeyRead) }),
  });
}

function revokeApiKeyRoute(identity: Pick<IdentityService, 'revokeKey'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/api-keys/:key_id',
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'Permanently refuses the key from the next request on. A key may revoke itself.',
    tag: 'API keys',
    access: 'key',
    params: ApiKeyParams,
    responses: { 204: { description: 'The key is revoked.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      identity.revokeKey(params.project_id, params.key_id, principal);
      return { status: 204 };
    },
  });
}

function partsOf(key: ApiKey): Omit<ApiKeyRead, 'user_name'> {
  return {
    id: key.id,
    project_id: key.project_id,
    user_id: key.user_id,
    name: key.name,
    prefix: key.prefix,
    access: key.access,
    created_at: toIso(key.created_at),
    last_used_at: key.last_used_at === null ? null : toIso(key.last_used_at),
  };
}

function toApiKeyRead(key: ListedApiKey): ApiKeyRead {
  return { ...partsOf(key), user_name: key.user_name };
}

function toCreatedKeyRead(key: CreatedApiKey): ApiKeyCreated {
  return { ...partsOf(key), key: key.key, public_key: publicKeyOf(key.project_id) };
}

/** Milliseconds are enough for keys. */
function toIso(at: Micros): string {
  return new Date(at / 1000).toISOString();
}
