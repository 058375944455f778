import type { Micros } from '../timestamp.js';
import type { ExternalIdentityStore } from './external-identity-store.js';
import type { MemberStore } from './member-store.js';
import type { ApiKey, ListedApiKey, Project, ProjectChange, StoredApiKey, User } from './identity.js';

/** When a key was used, and from which address; null: unknown. */
export interface KeyUse {
  readonly at: Micros;
  readonly from: string | null;
}

/** Where a revoked key stands among those that are: by when that was. */
export interface RevokedKey {
  readonly id: string;
  readonly revoked_at: Micros;
}

/** Some of the revoked keys, in the order in which they were. */
export interface RevokedPortion {
  /** Only keys that were revoked earlier. */
  readonly before: Micros;
  /** Begins after this one; null: with the first. */
  readonly after: RevokedKey | null;
  readonly limit: number;
  /** The hash of a key that stays, beside those that starts were told to make; null: none. */
  readonly keep: Buffer | null;
}

/**
 * Where users, projects and keys are kept.
 *
 * Guarantees: a write that returned is durable. Every read sees every write that returned before it, those of other
 * processes too. Ids, emails and key hashes are unique. Throws `DomainError('unavailable')` when the store does not
 * answer; nothing is written then.
 */
export interface IdentityStore {
  /** Who the people of projects are. */
  readonly members: MemberStore;
  readonly externals: ExternalIdentityStore;
  /** Number that changes when another process wrote anything since the last call; cheap enough for every request. */
  changeCounter(): number;
  /** Runs `work` as one transaction that excludes other writers: all of it is kept, or nothing. */
  transaction<T>(work: () => T): T;

  /** Stores a user; one who was invited goes with the last key. Throws `DomainError('conflict')` when the id or the email is taken. */
  insertUser(user: User, invited: boolean): void;
  /** Users, ascending by creation; without the reviewers of feedback links, who have no account. */
  listUsers(): User[];
  /** The first of them. */
  firstUser(): User | undefined;
  /** Whether there is such a user, who is neither a reviewer nor someone whom only imported records name. */
  isAccount(id: string): boolean;
  findUser(id: string): User | undefined;

  isEmailTaken(email: string): boolean;

  /** Stores a project. Throws `DomainError('conflict')` when the id is taken. */
  insertProject(project: Project): void;
  findProject(id: string): Project | undefined;
  /** False when there is no such project. */
  changeProject(id: string, change: ProjectChange): boolean;
  /** Whether the deletion of a project was ordered and is not completed: its data may still be there. */
  isBeingDeleted(projectId: string): boolean;
  /** Projects, ascending by creation. */
  listProjects(): Project[];

  /** Stores a key; one that a start was told to make stays known for good. Throws `DomainError('conflict')` when the id or the hash is taken. User and project must exist. */
  insertKey(key: StoredApiKey, ofStart: boolean): void;
  /** A key, revoked or not. */
  findKeyByHash(hash: Buffer): StoredApiKey | undefined;
  /** Forgets a key of a project that is being deleted, ahead of its other rows: it may be made for another project. */
  freeKey(hash: Buffer): void;
  /** A key, revoked or not. */
  findKey(id: string): ApiKey | undefined;
  /** Keys that are not revoked, ascending by creation; of one project or (null) of all. */
  listKeys(projectId: string | null): ListedApiKey[];
  /** Number of a project's keys that are not revoked. */
  countKeys(projectId: string): number;
  /**
   * Removes a portion of the keys that are revoked, except for each user's last key in each project: that goes, with the user, when
   * they were invited and left nothing.
   * @returns the last key of the portion; null: there are no more
   */
  removeRevoked(portion: RevokedPortion): RevokedKey | null;
  /** Revokes a key of the project (null: any); false when there is none that is not revoked yet. */
  revokeKey(projectId: string | null, keyId: string, at: Micros): boolean;
  /** Has a key in whose place another was made expire, unless it does so earlier; false when there was one already. */
  replaceKey(keyId: string, now: Micros, at: Micros): boolean;
  /** Revokes keys that expired before a time, as of when they did; some of them, which is enough if done often. */
  revokeExpired(before: Micros): void;
  /** Records uses of keys, by id; an older time never replaces a newer one. */
  recordUses(uses: ReadonlyMap<string, KeyUse>): void;
}
