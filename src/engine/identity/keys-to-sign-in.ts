import type { ApiKey } from './identity.js';
import { scopesOf } from './key-access.js';

const READING = scopesOf('read');

/**
 * Of each project the key that stands for the person, else of those that read everything the one of the most scopes.
 * @param keys ascending by creation
 */
export function keysToSignIn(keys: readonly ApiKey[]): ApiKey[] {
  const best = new Map<string, ApiKey>();
  for (const key of keys) {
    const known = best.get(key.project_id);
    if (READING.every((scope) => key.scopes.includes(scope)) && (known === undefined || isBetter(key, known)))
      best.set(key.project_id, key);
  }
  return [...best.values()];
}

function isBetter(key: ApiKey, known: ApiKey): boolean {
  if (key.personal !== known.personal) return key.personal;
  return key.scopes.length > known.scopes.length;
}
