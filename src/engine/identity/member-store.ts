import type { Window } from '../schema/page.js';
import type { Micros } from '../timestamp.js';
import type { Role } from './roles.js';

/** A person of a project. */
export interface Member {
  readonly project_id: string;
  readonly user_id: string;
  readonly role: Role;
  /** Since when. */
  readonly created_at: Micros;
  /** Whether the role follows the groups of the person at a provider of single sign-on. */
  readonly by_groups: boolean;
}

/** A person as the people of the project see them. */
export interface ListedMember extends Member {
  readonly user_name: string;
  readonly email: string | null;
  /** Whether they were made for an invitation that no one has taken yet. */
  readonly pending: boolean;
  /** Their keys of the project that are not revoked, except for those that stand for them as they sign in. */
  readonly keys: number;
  /** Their sessions that open the project. */
  readonly sessions: number;
  /** When one of those was used last, to about ten minutes; null: never, or it has ended. */
  readonly last_seen_at: Micros | null;
}

/** Where it is kept who the people of projects are. Guarantees as those of the `IdentityStore`, on the same rows of users. */
export interface MemberStore {
  /** The role of a user in a project; null: they are none of its people. */
  roleOf(projectId: string, userId: string): Role | null;
  /** Makes a user a person of a project. Throws `DomainError('conflict')` when they are one. */
  insert(member: Member): void;
  /** False when the user is none of the people. */
  changeRole(projectId: string, userId: string, role: Role, byGroups: boolean): boolean;
  /** Makes a user none of the people, and revokes their keys of the project. False when they are none. */
  remove(projectId: string, userId: string, at: Micros): boolean;
  /** People of a project, the first first. */
  list(projectId: string, window: Window, now: Micros): ListedMember[];
  find(projectId: string, userId: string, now: Micros): ListedMember | undefined;
  count(projectId: string): number;
  /** Without those whose invitation no one has taken yet. */
  countOwners(projectId: string): number;
  /** Where a user is one of the people. */
  ofUser(userId: string): Member[];
  /** Id of the key that stands for a user in a project, and is not revoked. */
  personalKey(projectId: string, userId: string): string | undefined;
}
