import { randomUUID, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../errors.js';
import { uuidOf } from '../schema/ids.js';
import { formatTimestamp, type Micros } from '../timestamp.js';
import { NO_AUDIT_LOG, type Actor, type AuditLog } from './audit.js';
import type { AuditRecord } from '../signals/catalog/audit.js';
import { INITIAL_KEY, type BootstrapRequest, type BootstrapResult } from './bootstrap.js';
import { generateApiKey, hashApiKey, isUsableApiKey, publicKeyOf, statedKey, visiblePrefix } from './api-key.js';
import {
  type ApiKey,
  type CreatedApiKey,
  type Identity,
  type ListedApiKey,
  type Principal,
  type Project,
  type User,
} from './identity.js';
import { requireGrant, type Granter } from './granting.js';
import type { IdentityStore } from './identity-store.js';
import { DEFAULT_KEY_ACCESS, accessOf, inOrder, scopesOf, type KeyAccess } from './key-access.js';
import { KeyUses, USE_RESOLUTION_MICROS } from './key-uses.js';
import { withImplied, type Scope } from './scopes.js';
import { invalid } from '../validation/validation.js';
import { requireUuid, usableName } from './stated-identity.js';

const MAX_CACHED_KEYS = 10_000;
/** Bound that keeps a project's list of keys readable, and one answer. */
const MAX_KEYS_PER_PROJECT = 1_000;

interface KeyInput {
  readonly projectId: string;
  readonly userId: string;
  readonly name: string;
  /** Scopes by name; without `scopes`, default: all. */
  readonly access?: KeyAccess;
  /** At least one. */
  readonly scopes?: readonly Scope[];
  readonly expiresAt?: Micros | null;
}

/** How a key is replaced. */
export interface Rotation {
  readonly projectId: string;
  readonly keyId: string;
  /** For how long the old key is still accepted. */
  readonly overlap: Micros;
}

interface CachedKey {
  readonly principal: Principal;
  readonly expiresAt: Micros | null;
  lastRecorded: Micros;
}

export interface IdentityServiceOptions {
  readonly store: IdentityStore;
  readonly now?: () => Micros;
  readonly audit?: AuditLog;
  /** Called when times of last use could not be written; nothing else depends on them. */
  readonly onRecordFailed?: (error: unknown) => void;
}

/** Authenticates callers, keeps them to their project, and makes and revokes keys. */
export class IdentityService {
  readonly #store: IdentityStore;
  readonly #now: () => Micros;
  readonly #audit: AuditLog;
  /** Valid keys by their hash, so that no key stays in memory in the clear. */
  readonly #cache = new Map<string, CachedKey>();
  readonly #uses: KeyUses;
  /** Projects that were deleted, and not made again since. */
  readonly #gone = new Set<string>();
  #seenChange = -1;

  constructor(options: IdentityServiceOptions) {
    this.#store = options.store;
    this.#now = options.now ?? (() => Date.now() * 1000);
    this.#audit = options.audit ?? NO_AUDIT_LOG;
    this.#uses = new KeyUses({ store: this.#store, onFailed: options.onRecordFailed ?? (() => undefined) });
  }

  /**
   * The principal of an `Authorization` header. A revocation by any process counts from the next call on.
   * @param from the address of the client
   * @throws DomainError `unauthenticated`
   */
  authenticate(authorization: string | undefined, from?: () => string): Principal {
    if (authorization === undefined) {
      throw new DomainError('unauthenticated', 'Missing header Authorization: Bearer <API key>');
    }
    const stated = statedKey(authorization);
    if (stated === null) throw new DomainError('unauthenticated', 'The Authorization header must be: Bearer <API key>');
    const { key, publicKey } = stated;
    const change = this.#store.changeCounter();
    if (change !== this.#seenChange) {
      this.#cache.clear();
      this.#seenChange = change;
    }
    const hash = hashApiKey(key);
    const cacheKey = hash.toString('latin1');
    const entry = this.#cache.get(cacheKey) ?? this.#load(hash, cacheKey);
    const { principal } = entry;
    if (publicKey !== null && publicKey.toLowerCase() !== publicKeyOf(principal.project_id))
      throw otherPublicKey(principal);
    this.#use(entry, from);
    return principal;
  }

  /**
   * The principal of a person who signed in to act for a key. Nothing of it is kept: people send few requests.
   * @throws DomainError `unauthenticated` when the key was revoked, or has expired
   */
  principalOfKey(keyId: string, signInId: string, from?: () => string): Principal {
    const key = this.#store.findKey(keyId);
    if (key === undefined || key.revoked_at !== null) throw unknownKey();
    const entry = this.#standing(key, signInId);
    this.#use(entry, from);
    return entry.principal;
  }

  /** @throws DomainError `unauthenticated` when the project is being deleted */
  describe({ user_id, project_id, key_id }: Pick<Principal, 'user_id' | 'project_id' | 'key_id'>): Identity {
    const user = this.#store.findUser(user_id);
    const project = this.#store.findProject(project_id);
    const key = this.#store.findKey(key_id);
    if (user === undefined || project === undefined || key === undefined) throw unknownKey();
    return { user, project, key };
  }

  /**
   * Checks again before writing, for requests that take long after their authentication.
   * @throws DomainError `unauthenticated` when the principal's project was deleted since
   */
  requireStanding({ project_id }: Pick<Principal, 'project_id'>): void {
    if (this.#gone.has(project_id)) throw unknownKey();
  }

  /** Refuses the keys of a project from now on, as it is being deleted. */
  projectGone(projectId: string): void {
    this.#gone.add(projectId);
    this.#cache.clear();
  }

  /** Whether a project was deleted, and not made again since. */
  isGone(projectId: string): boolean {
    return this.#gone.has(projectId);
  }

  /** @throws DomainError `forbidden` unless the project is the principal's. @param projectId in any form of an id */
  requireProject(principal: Principal, projectId: string): void {
    if (uuidOf(projectId) !== principal.project_id) {
      throw new DomainError('forbidden', 'This API key belongs to another project');
    }
  }

  /**
   * Makes sure that a user can call the server. An empty store gets a user, a project and a key; a given project
   * and key exist afterwards, made once however often this runs, but for a project that is being deleted.
   * @throws DomainError `invalid` for an unusable id or key, `conflict` when the key belongs to another project
   */
  bootstrap(request: BootstrapRequest = {}): BootstrapResult {
    const projectId = request.projectId == null ? null : uuidOf(request.projectId);
    const apiKey = request.apiKey ?? null;
    if (projectId !== null) requireUuid(projectId);
    if (apiKey !== null && !isUsableApiKey(apiKey)) {
      throw new DomainError(
        'invalid',
        'The initial API key must be 8 to 256 printable ASCII characters without spaces',
      );
    }
    return this.#inTransaction(() => this.#bootstrap(projectId, apiKey));
  }

  createUser(input: { readonly name: string; readonly email?: string | null; readonly invited?: boolean }): User {
    const user = {
      id: randomUUID(),
      name: usableName(input.name),
      email: input.email ?? null,
      created_at: this.#now(),
    };
    this.#store.insertUser(user, input.invited ?? false);
    return user;
  }

  listUsers(): User[] {
    return this.#store.listUsers();
  }

  createProject(input: { readonly name: string; readonly id?: string }): Project {
    const id = input.id === undefined ? randomUUID() : uuidOf(input.id);
    requireUuid(id);
    if (this.#store.isBeingDeleted(id))
      throw new DomainError(
        'conflict',
        'The project with this id is being deleted: create it again after that, which takes a running server seconds, for many spans minutes',
      );
    const project = { id, name: usableName(input.name), created_at: this.#now(), retention_days: null };
    return this.#inTransaction(() => {
      this.#store.insertProject(project);
      this.#audit.done({ event: 'projectMade', by: null, project_id: id, subject_name: project.name });
      return project;
    });
  }

  listProjects(): Project[] {
    return this.#store.listProjects();
  }

  /**
   * @throws DomainError `not_found` for an unknown project or user, `conflict` when the project has too many keys or is being
   *   deleted, `forbidden` when it would have scopes that its maker lacks, `invalid` when it would have expired
   */
  createKey(input: KeyInput, by: Granter = null): CreatedApiKey {
    requireGrant(by, scopesWanted(input));
    this.requireLifetime(by, input.expiresAt ?? null);
    return this.#audit.together(() => {
      const key = this.addKey(input);
      this.#audit.done(keyMade(key, by));
      return key;
    });
  }

  /** No key makes one that outlives it. @param expiresAt null: never @throws DomainError `forbidden` */
  requireLifetime(by: Granter, expiresAt: Micros | null): void {
    const own = by === null ? null : (this.#store.findKey(by.key_id)?.expires_at ?? null);
    if (own !== null && (expiresAt === null || expiresAt > own))
      throw new DomainError('forbidden', 'This API key expires, and cannot make one that outlives it');
  }

  /** As `createKey`, where the key is part of something else that is told of. */
  addKey(input: KeyInput): CreatedApiKey {
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
      return this.#insertKey({ ...input, key: generateApiKey() });
    });
  }

  /**
   * Makes a key like another one, which expires after the overlap. If that expires by itself, the new one lasts as long as
   * it was to last.
   * @throws DomainError `not_found` when the project has no such key that is valid, `conflict` as for a new one, `forbidden`
   *   when it has scopes that whoever asks lacks
   */
  rotateKey({ projectId, keyId, overlap }: Rotation, by: Granter): CreatedApiKey {
    const id = uuidOf(keyId);
    const made = this.#inTransaction(() => {
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
      this.requireLifetime(by, expiresAt);
      if (!this.#store.replaceKey(id, now, now + overlap))
        throw new DomainError('conflict', 'This API key was rotated already: rotate the one that was made then');
      const added = this.addKey({ projectId, userId, name, scopes, expiresAt });
      this.#audit.done(keyMade(added, by));
      this.#audit.done({ event: 'keyRotated', by, project_id: projectId, subject_id: id, subject_name: name });
      return added;
    });
    this.#cache.clear();
    return made;
  }

  /** Keys that are not revoked; null: of every project. */
  listKeys(projectId: string | null): ListedApiKey[] {
    return this.#store.listKeys(projectId);
  }

  /**
   * Revokes a key, which is refused from the next request on.
   * @throws DomainError `not_found` when the project (null: any) has no such key that is not revoked yet
   */
  revokeKey(projectId: string | null, keyId: string, by: Actor = null): void {
    const id = uuidOf(keyId);
    const key = this.#store.findKey(id);
    const revoked = this.#inTransaction(() => {
      if (key === undefined || !this.#store.revokeKey(projectId, id, this.#now())) return false;
      const { project_id, name: subject_name } = key;
      this.#audit.done({ event: 'keyRevoked', by, project_id, subject_id: id, subject_name });
      return true;
    });
    this.#cache.clear();
    if (!revoked) throw noKey();
  }

  /** One transaction, with what the audit log is told meanwhile. */
  #inTransaction<T>(work: () => T): T {
    return this.#audit.together(() => this.#store.transaction(work));
  }

  /** Writes pending times of last use. The service must not be used afterwards. */
  close(): void {
    this.#uses.close();
  }

  #load(hash: Buffer, cacheKey: string): CachedKey {
    const found = this.#store.findKeyByHash(hash);
    if (found === undefined || !timingSafeEqual(found.hash, hash) || found.revoked_at !== null) throw unknownKey();
    const entry = this.#standing(found, null);
    if (this.#cache.size >= MAX_CACHED_KEYS) {
      const oldest = this.#cache.keys().next();
      if (oldest.done !== true) this.#cache.delete(oldest.value);
    }
    this.#cache.set(cacheKey, entry);
    return entry;
  }

  #standing(key: ApiKey, sign_in_id: string | null): CachedKey {
    const { id, project_id, user_id, scopes, expires_at: expiresAt, last_used_at } = key;
    if (this.#gone.has(project_id)) {
      if (this.#store.isBeingDeleted(project_id)) throw unknownKey();
      // A valid key shows that a deleted project was made again.
      this.#gone.delete(project_id);
    }
    const principal = { project_id, user_id, key_id: id, scopes: withImplied(scopes), sign_in_id };
    return { principal, expiresAt, lastRecorded: last_used_at ?? 0 };
  }

  /** @throws DomainError `unauthenticated` when the key has expired */
  #use(entry: CachedKey, from?: () => string): void {
    const now = this.#now();
    if (isOver(entry.expiresAt, now)) throw expiredKey(entry.expiresAt ?? now);
    if (now - entry.lastRecorded < USE_RESOLUTION_MICROS) return;
    entry.lastRecorded = now;
    this.#uses.note(entry.principal.key_id, now, from?.());
  }

  #bootstrap(projectId: string | null, apiKey: string | null): BootstrapResult {
    const projects = this.#store.listProjects();
    const empty = projects.length === 0;
    const target = projectId ?? projects[0]?.id ?? randomUUID();
    if (apiKey !== null) this.#store.freeKey(hashApiKey(apiKey));
    const existing = apiKey === null ? undefined : this.#store.findKeyByHash(hashApiKey(apiKey));
    if (existing !== undefined && existing.project_id !== target) {
      throw new DomainError('conflict', 'The initial API key already exists and belongs to another project');
    }
    // A key would open what is to go, and what came in by it would go as well.
    if (this.#store.isBeingDeleted(target))
      return { created: null, initKeyRevoked: false, initProjectGoing: apiKey !== null };
    if (this.#store.findProject(target) === undefined) this.createProject({ id: target, name: 'Default project' });
    const missing = apiKey === null ? empty : existing === undefined;
    if (missing) {
      const owner = this.#store.firstUser() ?? this.createUser({ name: 'Owner' });
      const key = apiKey ?? generateApiKey();
      const initial = { projectId: target, userId: owner.id, name: INITIAL_KEY, key, ofStart: apiKey !== null };
      this.#audit.done(keyMade(this.#insertKey(initial), null));
      const created = { projectId: target, userId: owner.id, key: apiKey === null ? key : null };
      if (empty) return { created, initKeyRevoked: false, initProjectGoing: false };
    }
    const initKeyRevoked = existing !== undefined && existing.revoked_at !== null;
    return { created: null, initKeyRevoked, initProjectGoing: false };
  }

  #insertKey(input: KeyInput & { readonly key: string; readonly ofStart?: boolean }): CreatedApiKey {
    const scopes = scopesWanted(input);
    const created_at = this.#now();
    const expires_at = input.expiresAt ?? null;
    if (isOver(expires_at, created_at)) throw invalid([{ pointer: '/expires_at', detail: 'must be in the future' }]);
    const apiKey: ApiKey = {
      id: randomUUID(),
      project_id: input.projectId,
      user_id: input.userId,
      name: usableName(input.name),
      prefix: visiblePrefix(input.key),
      access: accessOf(scopes),
      scopes,
      created_at,
      last_used_at: null,
      last_used_from: null,
      expires_at,
      revoked_at: null,
    };
    this.#store.insertKey({ ...apiKey, hash: hashApiKey(input.key) }, input.ofStart ?? false);
    return { ...apiKey, key: input.key };
  }
}

/** @throws DomainError `invalid` when there are none */
function scopesWanted({ scopes, access = DEFAULT_KEY_ACCESS }: KeyInput): readonly Scope[] {
  if (scopes?.length === 0) throw invalid([{ pointer: '/scopes', detail: 'must name at least one scope' }]);
  return scopes === undefined ? scopesOf(access) : inOrder(scopes);
}

function isOver(expiresAt: Micros | null, now: Micros): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function keyMade({ id, project_id, name, access, scopes }: ApiKey, by: Actor): AuditRecord {
  const custom = access === 'custom' ? { scopes } : {};
  return { event: 'keyMade', by, project_id, subject_id: id, subject_name: name, access, ...custom };
}

/** Only whoever has the key is told. */
function otherPublicKey({ project_id }: Principal): DomainError {
  return new DomainError('unauthenticated', `The public key of this API key is ${publicKeyOf(project_id)}`);
}

function noKey(): DomainError {
  return new DomainError('not_found', 'There is no API key with this id');
}

function expiredKey(at: Micros): DomainError {
  return new DomainError('unauthenticated', `The API key expired at ${formatTimestamp(at)}`);
}

function unknownKey(): DomainError {
  return new DomainError('unauthenticated', 'The API key is unknown or revoked');
}
