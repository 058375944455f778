import { Type } from '@sinclair/typebox';
import { publicKeyOf } from '../../../engine/identity/api-key.js';
import type { IdentityService } from '../../../engine/identity/identity-service.js';
import type { ApiKey, CreatedApiKey, ListedApiKey } from '../../../engine/identity/identity.js';
import { DEFAULT_KEY_ACCESS, KEY_ACCESSES, KEY_ACCESS_EXPLAINED } from '../../../engine/identity/key-access.js';
import { SCOPE_NAMES } from '../../../engine/identity/scopes.js';
import { oneOf, time } from '../../../engine/schema/parts.js';
import { parseTimestamp, type Micros } from '../../../engine/timestamp.js';
import { invalid } from '../../../engine/validation/validation.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { ApiKeyCreated, ApiKeyParams, ApiKeyRead, ProjectParams, scope } from './schema.js';

/** Keys of a project. */
export function apiKeyRoutes(identity: IdentityService) {
  return [
    createApiKeyRoute(identity),
    listApiKeysRoute(identity),
    rotateApiKeyRoute(identity),
    revokeApiKeyRoute(identity),
  ];
}

/** Half a century: what is later is a mistake. */
const MAX_LIFETIME: Micros = 50 * 365 * 86_400 * 1e6;

const ApiKeyCreate = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '\\S',
      'x-must': 'have 1 to 200 characters, not only spaces',
      description: 'Name of the key, such as its purpose.',
    }),
    access: Type.Optional(
      oneOf(KEY_ACCESSES, `A set of scopes. ${KEY_ACCESS_EXPLAINED}. Default: \`${DEFAULT_KEY_ACCESS}\`.`),
    ),
    scopes: Type.Optional(
      Type.Array(scope, {
        minItems: 1,
        maxItems: SCOPE_NAMES.length,
        description: 'The scopes of the key, instead of `access`. A key cannot give scopes that it lacks.',
      }),
    ),
    expires_at: Type.Optional(time('When the key expires, in the future. Default: never.')),
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
      'For an application, use the access `application`; for a program that only sends spans, `ingest`; for one that only ' +
      'shows them, `read`; for a pipeline that runs experiments, `ci`. For anything else, list `scopes`.',
    tag: 'API keys',
    access: 'key',
    params: ProjectParams,
    body: jsonBody(ApiKeyCreate),
    responses: { 201: { description: 'The new key.', schema: ApiKeyCreated } },
    errors: ['conflict', 'unavailable'],
    handle({ principal, params, body }) {
      const { project_id: projectId } = params;
      const { name, access, scopes, expires_at } = body;
      if (access !== undefined && scopes !== undefined)
        throw invalid([{ pointer: '/scopes', detail: 'cannot be used with access' }]);
      const created = identity.createKey(
        {
          ...{ projectId, userId: principal.user_id, name },
          ...(access === undefined ? {} : { access }),
          ...(scopes === undefined ? {} : { scopes }),
          expiresAt: expires_at === undefined ? null : expiryOf(expires_at),
        },
        principal,
      );
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
    description:
      'Returns keys that are not revoked, oldest first. A project has at most 1,000. A key that expired counts as revoked 30 ' +
      'days later. Only a key with the scope `admin` is told from where keys were used.',
    tag: 'API keys',
    access: 'key',
    params: ProjectParams,
    responses: { 200: listOf(ApiKeyRead, 'The keys.') },
    errors: ['unavailable'],
    handle({ principal, params }) {
      const isAdmin = principal.scopes.has('admin');
      const keys = identity.listKeys(params.project_id).map(toApiKeyRead);
      return { status: 200, body: isAdmin ? keys : keys.map((key) => ({ ...key, last_used_from: null })) };
    },
  });
}

const DAY_SECONDS = 86_400;
const MAX_OVERLAP_SECONDS = 30 * DAY_SECONDS;

const ApiKeyRotation = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_OVERLAP_SECONDS,
        description: 'For how many seconds the old key is still accepted; 0: not at all. Default: 86400, a day.',
      }),
    ),
  },
  { $id: 'ApiKeyRotation', description: 'How to rotate a key.' },
);

function rotateApiKeyRoute(identity: Pick<IdentityService, 'rotateKey'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/api-keys/:key_id:rotate',
    operationId: 'rotateApiKey',
    summary: 'Rotate an API key',
    description:
      'Creates a key with the same name, scopes and user, and has the old key expire after an overlap, in which both work. ' +
      'Only this response contains the new key itself. If the old key was created with an expiry, the new key lasts as long. ' +
      'Sessions that were started with the old key end with it. A key cannot rotate one with scopes that it lacks.',
    tag: 'API keys',
    access: 'key',
    params: ApiKeyParams,
    body: jsonBody(ApiKeyRotation),
    responses: { 201: { description: 'The new key.', schema: ApiKeyCreated } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ principal, params, body: { overlap_seconds = DAY_SECONDS } }) {
      const { project_id: projectId, key_id: keyId } = params;
      const created = identity.rotateKey({ projectId, keyId, overlap: overlap_seconds * 1e6 }, principal);
      return { status: 201, body: toCreatedKeyRead(created) };
    },
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
    scopes: [...key.scopes],
    created_at: toIso(key.created_at),
    last_used_at: key.last_used_at === null ? null : toIso(key.last_used_at),
    last_used_from: key.last_used_from,
    expires_at: key.expires_at === null ? null : toIso(key.expires_at),
    rotated_at: key.rotated_at === null ? null : toIso(key.rotated_at),
  };
}

function toApiKeyRead(key: ListedApiKey): ApiKeyRead {
  return { ...partsOf(key), user_name: key.user_name };
}

function toCreatedKeyRead(key: CreatedApiKey): ApiKeyCreated {
  return { ...partsOf(key), key: key.key, public_key: publicKeyOf(key.project_id) };
}

/** @throws DomainError `invalid` */
function expiryOf(text: string): Micros {
  const at = parseTimestamp(text);
  const latest = Date.now() * 1000 + MAX_LIFETIME;
  if (at === undefined || at > latest)
    throw invalid([{ pointer: '/expires_at', detail: 'must be a time in ISO 8601, at most 50 years from now' }]);
  return at;
}

/** Milliseconds are enough for keys. */
function toIso(at: Micros): string {
  return new Date(at / 1000).toISOString();
}
