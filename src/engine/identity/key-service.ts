import { randomUUID } from 'node:crypto';
import { DomainError } from '../errors.js';
import { uuidOf } from '../schema/ids.js';
import type { AuditRecord } from '../signals/catalog/audit.js';
import type { Micros } from '../timestamp.js';
import { invalid } from '../validation/validation.js';
import { generateApiKey, hashApiKey, visiblePrefix } from './api-key.js';
import { inTransaction, type Actor, type AuditLog } from './audit.js';
import { requireGrant, requireLifetime, requireNotAbove, type Granter } from './granting.js';
import type { ApiKey, CreatedApiKey, ListedApiKey } from './identity.js';
import type { IdentityStore } from './identity-store.js';
import { accessOf, DEFAULT_KEY_ACCESS, inOrder, scopesOf, type KeyAccess } from './key-access.js';
import { isAbove, leastRole, scopesOfRole, type Role } from './roles.js';
import { SCOPE_NAMES, type Scope } from './scopes.js';
import { usableName } from './stated-identity.js';

/** Bound that keeps a project's list of keys readable, and one answer. */
const MAX_KEYS_PER_PROJECT = 1_000;

export interface KeyInput {
  readonly projectId: string;
  readonly userId: string;
  readonly name: string;
  /** Scopes by name; without `scopes`, default: all. */
  readonly access?: KeyAccess;
  /** At least one. */
  readonly scopes?: readonly Scope[];
  readonly expiresAt?: Micros | null;
  /** Whether it stands for a person who signs in, and has the scopes of their role. */
  readonly personal?: boolean;
}

/** How a key is replaced. */
export interface Rotation {
  readonly projectId: string;
  readonly keyId: string;
  /** For how long the old key is still accepted. */
  readonly overlap: Micros;
}

export interface KeyServiceParts {
  readonly store: IdentityStore;
  readonly now: () => Micros;
  readonly audit: AuditLog;
  /** Called when a key that was accepted may be refused now. */
  readonly onChanged: () => void;
}

/** Makes, rotates, lists and revokes keys. */
export class KeyService {
  readonly #store: IdentityStore;
  readonly #now: () => Micros;
  readonly #audit: AuditLog;
  readonly #onChanged: () => void;

  constructor({ store, now, audit, onChanged }: KeyServiceParts) {
    this.#store = store;
    this.#now = now;
    this.#audit = audit;
    this.#onChanged = onChanged;
  }

  /**
   * @throws DomainError `not_found` for an unknown project or user, `conflict` when the project has too many keys or is being
   *   deleted, `forbidden` when it would have scopes that its maker lacks, `invalid` when it would have expired
   */
  create(input: KeyInput, by: Granter): CreatedApiKey {
    requireGrant(by, scopesWanted(input));
    requireLifetime(this.#store, by, input.expiresAt ?? null);
    return this.#audit.together(() => {
      const key = this.add(input);
      this.#audit.done(keyMade(key, by));
      return key;
    });
  }

  /** As `create`, where the key is part of another audited change. */
  add(input: KeyInput): CreatedApiKey {
    return this.#store.transaction(() => {
      if (this.#store.findProject(input.projectId) === undefined)
        throw new DomainError('not_found', 'There is no project with this id');
      if (this.#store.isBeingDeleted(input.projectId))
        throw new DomainError(
          'conflict',
          'The project is being deleted and cannot get new keys: choose another project, or create it again after the deletion',
        );
      if (!this.#store.isAccount(input.userId)) throw new DomainError('not_found', 'There is no user with this id');
      if (this.#store.countKeys(input.projectId) >= MAX_KEYS_PER_PROJECT) {
        throw new DomainError('conflict', `A project has at most ${MAX_KEYS_PER_PROJECT} keys: revoke one first`);
      }
      return this.insert({ ...input, key: generateApiKey() });
    });
  }

  /**
   * Makes a key like another one, which expires after the overlap. If that expires by itself, the new one lasts as long as
   * it was to last.
   * @throws DomainError `not_found` when the project has no such key that is valid, `conflict` as for a new one, `forbidden`
   *   when it has scopes that the caller lacks
   */
  rotate({ projectId, keyId, overlap }: Rotation, by: Granter): CreatedApiKey {
    const id = uuidOf(keyId);
    const made = inTransaction(this.#audit, this.#store, () => {
      const old = this.#store.findKey(id);
      const now = this.#now();
      if (old?.project_id !== projectId || old.revoked_at !== null || isOver(old.expires_at, now)) throw noKey();
      requireGrant(by, old.scopes);
      const { user_id: userId, name, scopes, expires_at, created_at } = old;
      if (by !== null && by.user_id !== userId)
        throw new DomainError(
          'forbidden',
          'This API key acts for somebody else, who alone can rotate it; you can revoke it',
        );
      const expiresAt = expires_at === null ? null : now + (expires_at - created_at);
      requireLifetime(this.#store, by, expiresAt);
      if (!this.#store.replaceKey(id, now, now + overlap))
        throw new DomainError('conflict', 'This API key was rotated already: rotate the one that replaced it');
      const added = this.add({ projectId, userId, name, scopes, expiresAt });
      this.#audit.done(keyMade(added, by));
      this.#audit.done({ event: 'keyRotated', by, project_id: projectId, subject_id: id, subject_name: name });
      return added;
    });
    this.#onChanged();
    return made;
  }

  /** Keys that are not revoked; null: of every project. */
  list(projectId: string | null): ListedApiKey[] {
    return this.#store.listKeys(projectId);
  }

  /**
   * Revokes a key, which is refused from the next request on.
   * @throws DomainError `not_found` when the project (null: any) has no such key that is not revoked yet, `forbidden` when it
   *   acts for someone above the caller
   */
  revoke(projectId: string | null, keyId: string, by: Actor): void {
    const id = uuidOf(keyId);
    const revoked = inTransaction(this.#audit, this.#store, () => {
      const key = this.#store.findKey(id);
      if (key === undefined) return false;
      const { project_id, user_id, name: subject_name } = key;
      if (project_id === projectId) requireNotAbove(this.#store, by, projectId, user_id);
      if (!this.#store.revokeKey(projectId, id, this.#now())) return false;
      this.#audit.done({ event: 'keyRevoked', by, project_id, subject_id: id, subject_name });
      return true;
    });
    this.#onChanged();
    if (!revoked) throw noKey();
  }

  /** Stores a key, inside a transaction of the caller's. Its user is one of the project's people from then on. */
  insert(input: KeyInput & { readonly key: string; readonly ofStart?: boolean }): CreatedApiKey {
    const { projectId, userId, personal = false } = input;
    const wanted = scopesWanted(input);
    const role = this.#roleWith(projectId, userId, wanted, personal);
    const scopes = personal ? scopesOfRole(role) : wanted;
    const created_at = this.#now();
    const expires_at = input.expiresAt ?? null;
    if (isOver(expires_at, created_at)) throw invalid([{ pointer: '/expires_at', detail: 'must be in the future' }]);
    const apiKey: ApiKey = {
      id: randomUUID(),
      project_id: projectId,
      user_id: userId,
      name: usableName(input.name),
      prefix: visiblePrefix(input.key),
      access: accessOf(scopes),
      scopes,
      personal,
      role,
      created_at,
      last_used_at: null,
      last_used_from: null,
      expires_at,
      rotated_at: null,
      revoked_at: null,
    };
    this.#store.insertKey({ ...apiKey, hash: hashApiKey(input.key) }, input.ofStart ?? false);
    return { ...apiKey, key: input.key };
  }

  /**
   * The role of the user who gets a key. No one gives a key of more scopes than they have: a role that is too low is raised only by
   * commands on the server's machine, and by its start.
   */
  #roleWith(projectId: string, userId: string, scopes: readonly Scope[], personal: boolean): Role {
    const { members } = this.#store;
    const own = members.roleOf(projectId, userId);
    if (own !== null && personal) return own;
    const isFirst = own === null && scopes.length === SCOPE_NAMES.length && members.countOwners(projectId) === 0;
    const needed = isFirst ? 'owner' : leastRole(scopes);
    if (own === null)
      members.insert({
        project_id: projectId,
        user_id: userId,
        role: needed,
        created_at: this.#now(),
        by_groups: false,
      });
    else if (isAbove(needed, own)) members.changeRole(projectId, userId, needed, false);
    else return own;
    return needed;
  }
}

/** @throws DomainError `invalid` when there are none */
function scopesWanted({ scopes, access = DEFAULT_KEY_ACCESS }: KeyInput): readonly Scope[] {
  if (scopes?.length === 0) throw invalid([{ pointer: '/scopes', detail: 'must name at least one scope' }]);
  return scopes === undefined ? scopesOf(access) : inOrder(scopes);
}

export function isOver(expiresAt: Micros | null, now: Micros): boolean {
  return expiresAt !== null && expiresAt <= now;
}

export function keyMade({ id, project_id, name, access, scopes }: ApiKey, by: Actor): AuditRecord {
  const custom = access === 'custom' ? { scopes } : {};
  return { event: 'keyMade', by, project_id, subject_id: id, subject_name: name, access, ...custom };
}

function noKey(): DomainError {
  return new DomainError('not_found', 'There is no API key with this id');
}
