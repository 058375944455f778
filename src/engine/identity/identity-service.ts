import { randomUUID, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../errors.js';
import { uuidOf } from '../schema/ids.js';
import { formatTimestamp, type Micros } from '../timestamp.js';
import { inTransaction, NO_AUDIT_LOG, type Actor, type AuditLog } from './audit.js';
import { INITIAL_KEY, type BootstrapRequest, type BootstrapResult } from './bootstrap.js';
import { generateApiKey, hashApiKey, isUsableApiKey, publicKeyOf, statedKey } from './api-key.js';
import type { ApiKey, CreatedApiKey, Identity, ListedApiKey, Principal, Project, User } from './identity.js';
import type { Granter } from './granting.js';
import type { IdentityStore } from './identity-store.js';
import { KeyService, isOver, keyMade, type KeyInput, type Rotation } from './key-service.js';
import { KeyUses, USE_RESOLUTION_MICROS } from './key-uses.js';
import { MemberService } from './member-service.js';
import { withImplied, type Scope } from './scopes.js';
import { requireUuid, usableName } from './stated-identity.js';

const MAX_CACHED_KEYS = 10_000;

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

/** Authenticates callers, keeps them to their project, and knows users and projects; of keys and people, it has the services. */
export class IdentityService {
  /** The people of projects. */
  readonly members: MemberService;
  readonly #keys: KeyService;
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
    const parts = { store: this.#store, now: this.#now, audit: this.#audit, onChanged: () => this.#cache.clear() };
    this.#keys = new KeyService(parts);
    this.members = new MemberService({ ...parts, keys: this.#keys });
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

  /** Scopes of a key; none when there is no such key, or it was revoked. */
  scopesOfKey(keyId: string): readonly Scope[] {
    const key = this.#store.findKey(keyId);
    return key === undefined || key.revoked_at !== null ? [] : key.scopes;
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
   * and key exist afterwards, made once however often this runs, except for a project that is being deleted.
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
    return inTransaction(this.#audit, this.#store, () => this.#bootstrap(projectId, apiKey));
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
    return inTransaction(this.#audit, this.#store, () => {
      this.#store.insertProject(project);
      this.#audit.done({ event: 'projectMade', by: null, project_id: id, subject_name: project.name });
      return project;
    });
  }

  listProjects(): Project[] {
    return this.#store.listProjects();
  }

  /** As {@link KeyService.create}. */
  createKey(input: KeyInput, by: Granter = null): CreatedApiKey {
    return this.#keys.create(input, by);
  }

  /** As {@link KeyService.add}. */
  addKey(input: KeyInput): CreatedApiKey {
    return this.#keys.add(input);
  }

  /** As {@link KeyService.rotate}. */
  rotateKey(rotation: Rotation, by: Granter): CreatedApiKey {
    return this.#keys.rotate(rotation, by);
  }

  /** Keys that are not revoked; null: of every project. */
  listKeys(projectId: string | null): ListedApiKey[] {
    return this.#keys.list(projectId);
  }

  /** As {@link KeyService.revoke}. */
  revokeKey(projectId: string | null, keyId: string, by: Actor = null): void {
    this.#keys.revoke(projectId, keyId, by);
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
    const { id, project_id, user_id, scopes, role, expires_at: expiresAt, last_used_at } = key;
    if (this.#gone.has(project_id)) {
      if (this.#store.isBeingDeleted(project_id)) throw unknownKey();
      // A valid key shows that a deleted project was made again.
      this.#gone.delete(project_id);
    }
    const principal = { project_id, user_id, key_id: id, scopes: withImplied(scopes), role, sign_in_id };
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
      this.#audit.done(keyMade(this.#keys.insert(initial), null));
      const created = { projectId: target, userId: owner.id, key: apiKey === null ? key : null };
      if (empty) return { created, initKeyRevoked: false, initProjectGoing: false };
    }
    const initKeyRevoked = existing !== undefined && existing.revoked_at !== null;
    return { created: null, initKeyRevoked, initProjectGoing: false };
  }
}

/** Only the holder of the key learns this. */
function otherPublicKey({ project_id }: Principal): DomainError {
  return new DomainError('unauthenticated', `The public key of this API key is ${publicKeyOf(project_id)}`);
}

function expiredKey(at: Micros): DomainError {
  return new DomainError('unauthenticated', `The API key expired at ${formatTimestamp(at)}`);
}

function unknownKey(): DomainError {
  return new DomainError('unauthenticated', 'The API key is unknown or revoked');
}
