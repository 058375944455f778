import { DomainError } from '../errors.js';
import type { Actor } from './audit.js';
import type { Scope, ScopeHolder } from './scopes.js';

/** Who makes a key for somebody; null: a command on the server's machine, which may give everything. */
export type Granter = (NonNullable<Actor> & ScopeHolder) | null;

/** No key gives more than it has itself. @throws DomainError `forbidden`, which names what it would give */
export function requireGrant(by: Granter, scopes: readonly Scope[]): void {
  const beyond = by === null ? [] : scopes.filter((scope) => !by.scopes.has(scope));
  if (beyond.length > 0)
    throw new DomainError('forbidden', `This API key cannot give scopes that it lacks: ${beyond.join(', ')}`);
}
