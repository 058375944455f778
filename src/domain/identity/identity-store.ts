import type { Micros } from '../span/span.js';
import type { ApiKey, ListedApiKey, Project, ProjectChange, StoredApiKey, User } from './identity.js';

/**
 * Where users, projects and keys are kept.
 *
 * Guarantees: a write that returned is durable. Every read sees every write that returned before it, those of other
 * processes too. Ids, emails and key hashes are unique. Throws `DomainError('unavailable')` when the store does not
 * answer; nothing is written then.
 */
export interface IdentityStore {
  /** Number that changes when another process wrote anything since the last call; cheap enough for every request. */
  changeCounter(): number;
  /** Runs `work` as one transaction that excludes other writers: all of it is kept, or nothing. */
  transaction<T>(work: () => T): T;

  /** Stores a user. Throws `DomainError('conflict')` when the id or the email is taken. */
  insertUser(user: User): void;
  /** Users, ascending by creation; without the reviewers of feedback links, who have no account. */
  listUsers(): User[];
  findUser(id: string): User | undefined;

  /** Stores a project. Throws `DomainError('conflict')` when the id is taken. */
  insertProject(project: Project): void;
  findProject(id: string): Project | undefined;
  /** False when there is no such project. */
  changeProject(id: string, change: ProjectChange): boolean;
  /** Projects, ascending by creation. */
  listProjects(): Project[];

  /** Stores a key. Throws `DomainError('conflict')` when the id or the hash is taken. User and project must exist. */
  insertKey(key: StoredApiKey): void;
  /** A key, revoked or not. */
  findKeyByHash(hash: Buffer): StoredApiKey | undefined;
  /** A key, revoked or not. */
  findKey(id: string): ApiKey | undefined;
  /** Keys that are not revoked, ascending by creation; of one project or (null) of all. */
  listKeys(projectId: string | null): ListedApiKey[];
  /** Revokes a key of the project (null: any); false when there is none that is not revoked yet. */
  revokeKey(projectId: string | null, keyId: string, at: Micros): boolean;
  /** Records uses; an older time never replaces a newer one. */
  recordUses(uses: ReadonlyMap<string, Micros>): void;
}
