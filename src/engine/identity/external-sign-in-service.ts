import { randomUUID } from 'node:crypto';
import { DomainError } from '../errors.js';
import type { RequestOrigin } from '../signals/catalog/audit.js';
import type { Micros } from '../timestamp.js';
import { inTransaction, type AuditLog } from './audit.js';
import type { IdentityStore } from './identity-store.js';
import type { IdentityService } from './identity-service.js';
import { MAX_NAME_LENGTH } from './identity.js';
import { PERSONAL_KEY } from './member-service.js';
import type { Role } from './roles.js';
import type { OpenedSession, SignInKey, SignInOrigin, SignInProvider } from './sign-in.js';
import type { SignInService } from './sign-in-service.js';

/** Roles by project, as the groups of a person give them. */
export type GroupRoles = ReadonlyMap<string, Role>;

/** Someone whom a provider of single sign-on vouches for. */
export interface ExternalPerson {
  readonly provider: SignInProvider;
  /** With the subject, all that tells people apart. */
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  /** Only one that the provider has verified. */
  readonly email: string | null;
  /** What the groups give; null: no groups are known to give anything. */
  readonly roles: GroupRoles | null;
}

export interface ExternalSignInServiceParts {
  readonly store: IdentityStore;
  readonly identity: IdentityService;
  readonly signIns: SignInService;
  readonly audit: AuditLog;
  readonly now?: () => Micros;
}

/** Signs in people whom someone else vouches for, and has their roles follow their groups. */
export class ExternalSignInService {
  readonly #parts: ExternalSignInServiceParts;
  readonly #now: () => Micros;

  constructor(parts: ExternalSignInServiceParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => Date.now() * 1000);
  }

  /** @param request with the network of its client @throws DomainError `forbidden` for someone who is in no project */
  signIn(person: ExternalPerson, origin: SignInOrigin, request: RequestOrigin): OpenedSession {
    const { store, signIns, audit } = this.#parts;
    const { provider: how } = person;
    const opened = inTransaction(audit, store, () => {
      const userId = this.#userOf(person);
      if (person.roles !== null) this.#applyRoles(userId, person.roles);
      const keys = this.#keysOf(userId);
      return keys.length === 0 ? null : signIns.open(userId, keys, { origin, request, how });
    });
    signIns.tidy();
    if (opened === null)
      throw new DomainError(
        'forbidden',
        `${person.name} has no project here. Ask an administrator to give one of your groups a role, or to invite you`,
      );
    return opened;
  }

  /** Never found by an email address: anyone who could claim it would sign in as someone else. */
  #userOf({ issuer, subject, name, email }: ExternalPerson): string {
    const { identity, store } = this.#parts;
    const known = store.externals.find(issuer, subject);
    if (known !== undefined) return known;
    const isFree = email !== null && !store.isEmailTaken(email);
    const { id } = identity.createUser({ name: nameOf(name, subject), email: isFree ? email : null });
    store.externals.insert({ issuer, subject, user_id: id, created_at: this.#now() });
    return id;
  }

  /** What someone was given by hand stays. The last owner stays, too, whatever the groups say. */
  #applyRoles(userId: string, roles: GroupRoles): void {
    const { identity, store } = this.#parts;
    const { members } = identity;
    const before = members.ofUser(userId);
    for (const { project_id, role, by_groups } of before) {
      if (!by_groups) continue;
      const wanted = roles.get(project_id);
      if (wanted === role) continue;
      unlessLastOwner(() => {
        if (wanted === undefined) members.remove(project_id, userId, null);
        else members.changeRole(project_id, userId, wanted, null, true);
      });
    }
    for (const [projectId, role] of roles) {
      if (before.some(({ project_id }) => project_id === projectId)) continue;
      if (store.findProject(projectId) === undefined || store.isBeingDeleted(projectId)) continue;
      members.admit(projectId, userId, role, true);
    }
  }

  /** The keys that stand for someone, one of each project; one that was revoked is made again. */
  #keysOf(userId: string): SignInKey[] {
    const { identity, store } = this.#parts;
    return identity.members.ofUser(userId).flatMap(({ project_id }) => {
      if (store.isBeingDeleted(project_id)) return [];
      const known = store.members.personalKey(project_id, userId);
      const made = () => identity.addKey({ projectId: project_id, userId, name: PERSONAL_KEY, personal: true }).id;
      return [{ id: known ?? made(), project_id }];
    });
  }
}

function unlessLastOwner(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof DomainError && error.kind === 'conflict')) throw error;
  }
}

function nameOf(name: string, subject: string): string {
  const shown = name
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    .trim()
    .slice(0, MAX_NAME_LENGTH);
  return shown === '' ? subject.slice(0, MAX_NAME_LENGTH) || randomUUID() : shown;
}
