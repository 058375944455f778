import { DomainError } from '../errors.js';
import type { Micros } from '../timestamp.js';
import type { Actor } from './audit.js';
import type { IdentityStore } from './identity-store.js';
import { isAbove, scopesOfRole, type Role } from './roles.js';
import type { Scope, ScopeHolder } from './scopes.js';

/** Who makes a key for someone, or changes people; null: a command on the server's machine, which may give everything. */
export type Granter = (NonNullable<Actor> & ScopeHolder) | null;

type Rows = Pick<IdentityStore, 'findKey' | 'members'>;

/** No key gives more than it has itself. @throws DomainError `forbidden`, which names what it would give */
export function requireGrant(by: Granter, scopes: readonly Scope[]): void {
  const beyond = by === null ? [] : scopes.filter((scope) => !by.scopes.has(scope));
  if (beyond.length > 0)
    throw new DomainError('forbidden', `This API key cannot give scopes that it lacks: ${beyond.join(', ')}`);
}

/** No key makes one that outlives it. @param expiresAt null: never @throws DomainError `forbidden` */
export function requireLifetime(rows: Rows, by: Granter, expiresAt: Micros | null): void {
  const own = by === null ? null : (rows.findKey(by.key_id)?.expires_at ?? null);
  if (own !== null && (expiresAt === null || expiresAt > own))
    throw new DomainError('forbidden', 'This API key expires, and cannot create one that expires later');
}

/** No one gives a role above their own, or one with scopes that their key lacks, or for longer than their key lasts. @throws DomainError `forbidden` */
export function requireRoleGrant(rows: Rows, by: Granter, projectId: string, role: Role): void {
  if (by === null) return;
  const own = rows.members.roleOf(projectId, by.user_id);
  if (isAbove(role, own)) throw new DomainError('forbidden', `Your role ${own ?? 'none'} cannot give the role ${role}`);
  requireGrant(by, scopesOfRole(role));
  requireLifetime(rows, by, null);
}

/** No one changes someone above them, or what is theirs. @throws DomainError `forbidden` */
export function requireNotAbove(
  { members }: Pick<Rows, 'members'>,
  by: Actor,
  projectId: string,
  userId: string,
): void {
  if (by === null || by.user_id === userId) return;
  const own = members.roleOf(projectId, by.user_id);
  const theirs = members.roleOf(projectId, userId);
  if (isAbove(theirs, own))
    throw new DomainError(
      'forbidden',
      `Your role ${own ?? 'none'} cannot change a person with the role ${theirs ?? 'none'}`,
    );
}
