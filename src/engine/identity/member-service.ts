import { randomUUID } from 'node:crypto';
import { DomainError } from '../errors.js';
import { uuidOf } from '../schema/ids.js';
import type { Window } from '../schema/page.js';
import type { Micros } from '../timestamp.js';
import { inTransaction, type AuditLog } from './audit.js';
import { requireLifetime, requireNotAbove, requireRoleGrant, type Granter } from './granting.js';
import type { Principal, Project } from './identity.js';
import type { IdentityStore } from './identity-store.js';
import type { KeyService } from './key-service.js';
import type { ListedMember, Member } from './member-store.js';
import type { Role } from './roles.js';
import { usableName } from './stated-identity.js';

/** Bound that keeps a project's list of people readable. */
const MAX_MEMBERS = 1_000;
/** Bound on projects that calls may make; commands on the server's machine may make more. */
const MAX_PROJECTS = 1_000;
/** Name of a key that stands for a person who signs in. */
export const PERSONAL_KEY = 'Console';

export interface MemberServiceParts {
  readonly store: IdentityStore;
  readonly keys: Pick<KeyService, 'add'>;
  readonly now: () => Micros;
  readonly audit: AuditLog;
  /** Called when someone may do less, or more, than before. */
  readonly onChanged: () => void;
}

/** A person of a project, with the key that stands for them as they sign in. */
export interface AddedMember extends Member {
  readonly key_id: string;
}

/** The people of projects, and their roles. A change counts from the next request on. */
export class MemberService {
  readonly #store: IdentityStore;
  readonly #keys: Pick<KeyService, 'add'>;
  readonly #now: () => Micros;
  readonly #audit: AuditLog;
  readonly #onChanged: () => void;

  constructor({ store, keys, now, audit, onChanged }: MemberServiceParts) {
    this.#store = store;
    this.#keys = keys;
    this.#now = now;
    this.#audit = audit;
    this.#onChanged = onChanged;
  }

  /** The role of a user in a project; null: they are none of its people. */
  roleOf(projectId: string, userId: string): Role | null {
    return this.#store.members.roleOf(projectId, userId);
  }

  /** Where a user is one of the people. */
  ofUser(userId: string): Member[] {
    return this.#store.members.ofUser(userId);
  }

  /** People of a project, the first first. */
  list(projectId: string, window: Window): ListedMember[] {
    return this.#store.members.list(projectId, window, this.#now());
  }

  /** @throws DomainError `forbidden` unless the caller may give the role */
  requireRoleGrant(by: Granter, projectId: string, role: Role): void {
    requireRoleGrant(this.#store, by, projectId, role);
  }

  /** @throws DomainError `forbidden` when the user is above the caller */
  requireNotAbove(by: Granter, projectId: string, userId: string): void {
    requireNotAbove(this.#store, by, projectId, userId);
  }

  /**
   * Makes a user one of the people, with a key that stands for them. The caller audits it.
   * @param byGroups whether the role follows the groups of the person
   * @throws DomainError `conflict` when they are, or the project has too many, or is being deleted; `not_found`
   */
  add(projectId: string, userId: string, role: Role, byGroups = false): AddedMember {
    return this.#store.transaction(() => {
      const { members } = this.#store;
      if (this.#store.findProject(projectId) === undefined)
        throw new DomainError('not_found', 'There is no project with this id');
      if (members.count(projectId) >= MAX_MEMBERS)
        throw new DomainError('conflict', `A project has at most ${MAX_MEMBERS} people: remove somebody first`);
      const member = { project_id: projectId, user_id: userId, role, created_at: this.#now(), by_groups: byGroups };
      members.insert(member);
      const { id } = this.#keys.add({ projectId, userId, name: PERSONAL_KEY, personal: true });
      return { ...member, key_id: id };
    });
  }

  /** As `add`, for someone whom groups or a command make one of the people, and tells of it. */
  admit(projectId: string, userId: string, role: Role, byGroups = false): AddedMember {
    return inTransaction(this.#audit, this.#store, () => {
      const added = this.add(projectId, userId, role, byGroups);
      this.#audit.done({ event: 'personJoined', by: null, project_id: projectId, subject_id: userId, role });
      return added;
    });
  }

  /**
   * Gives someone another role. What is given by hand no longer follows groups.
   * @throws DomainError `not_found`, `forbidden` for a role above one's own or that of someone above, `conflict` for the last owner
   */
  changeRole(projectId: string, userId: string, role: Role, by: Granter, byGroups = false): ListedMember {
    const id = uuidOf(userId);
    const isChanged = inTransaction(this.#audit, this.#store, () => {
      const before = this.#standing(projectId, id, by);
      if (before === role) return false;
      requireRoleGrant(this.#store, by, projectId, role);
      this.#requireOtherOwner(projectId, before);
      if (!this.#store.members.changeRole(projectId, id, role, byGroups)) return false;
      const changes = [{ field: 'role', from: before, to: role }];
      this.#audit.done({ event: 'roleChanged', by, project_id: projectId, subject_id: id, role, changes });
      return true;
    });
    if (isChanged) this.#onChanged();
    const member = this.#store.members.find(projectId, id, this.#now());
    if (member === undefined) throw noMember();
    return member;
  }

  /**
   * Removes a person from the project: their keys of the project are revoked, and their sessions lose it.
   * @throws DomainError `not_found`, `forbidden` for someone above the caller, `conflict` for the last owner
   */
  remove(projectId: string, userId: string, by: Granter): void {
    const id = uuidOf(userId);
    inTransaction(this.#audit, this.#store, () => {
      this.#requireOtherOwner(projectId, this.#standing(projectId, id, by));
      this.#store.members.remove(projectId, id, this.#now());
      this.#audit.done({ event: 'personRemoved', by, project_id: projectId, subject_id: id });
    });
    this.#onChanged();
  }

  /**
   * Makes a project, whose owner is the caller. Their key gives them nothing of it; the session by which they asked may.
   * @throws DomainError `conflict` when there are too many, `forbidden` when the key of the caller will expire, `invalid`
   */
  createProject(name: string, by: Principal): { readonly project: Project; readonly member: AddedMember } {
    requireLifetime(this.#store, by, null);
    return inTransaction(this.#audit, this.#store, () => {
      if (this.#store.listProjects().length >= MAX_PROJECTS)
        throw new DomainError('conflict', `The API creates at most ${MAX_PROJECTS} projects: delete one first`);
      const project = { id: randomUUID(), name: usableName(name), created_at: this.#now(), retention_days: null };
      this.#store.insertProject(project);
      const member = this.add(project.id, by.user_id, 'owner');
      this.#audit.done({ event: 'projectMade', by, project_id: project.id, subject_name: project.name });
      return { project, member };
    });
  }

  /** The role of someone whom the caller may change. @throws DomainError `not_found`, `forbidden` */
  #standing(projectId: string, userId: string, by: Granter): Role {
    const role = this.#store.members.roleOf(projectId, userId);
    if (role === null) throw noMember();
    requireNotAbove(this.#store, by, projectId, userId);
    return role;
  }

  /** @throws DomainError `conflict` when the project would have no owner anymore */
  #requireOtherOwner(projectId: string, before: Role): void {
    if (before === 'owner' && this.#store.members.countOwners(projectId) < 2)
      throw new DomainError('conflict', 'A project keeps at least one owner: make someone else an owner first');
  }
}

function noMember(): DomainError {
  return new DomainError('not_found', 'The project has no person with this id');
}
