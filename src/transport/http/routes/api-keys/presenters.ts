import type { ApiKey, CreatedApiKey } from '../../../../domain/identity/identity.js';
import type { Micros } from '../../../../domain/time/timestamp.js';
import type { ApiKeyCreated, ApiKeyRead } from './schema.js';

export function toApiKeyRead(key: ApiKey): ApiKeyRead {
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

export function toCreatedKeyRead(key: CreatedApiKey): ApiKeyCreated {
  return { ...toApiKeyRead(key), key: key.key };
}

/** Milliseconds are enough for keys. */
function toIso(at: Micros): string {
  return new Date(at / 1000).toISOString();
}
