import type { IdentityService } from '../../../../domain/identity/identity-service.js';
import { defineRoute, type Route } from '../../route.js';
import { ApiKeyParams } from './schema.js';

export function revokeApiKeyRoute(identity: Pick<IdentityService, 'revokeKey'>): Route {
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
