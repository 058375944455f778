import type { IdentityService } from '../../../../domain/identity/identity-service.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { toApiKeyRead } from './presenters.js';
import { ApiKeyRead, ProjectParams } from './schema.js';

export function listApiKeysRoute(identity: Pick<IdentityService, 'listKeys'>): Route {
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
