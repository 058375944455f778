import type { ApiKey, CreatedApiKey, ListedApiKey } from '../../../engine/identity/identity.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { ApiKeyCreated, ApiKeyRead } from './schema.js';

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

export function toApiKeyRead(key: ListedApiKey): ApiKeyRead {
  return { ...partsOf(key), user_name: key.user_name };
}

export function toCreatedKeyRead(key: CreatedApiKey): ApiKeyCreated {
  return { ...partsOf(key), key: key.key };
}

/** Milliseconds are enough for keys. */
function toIso(at: Micros): string {
  return new Date(at / 1000).toISOString();
}
