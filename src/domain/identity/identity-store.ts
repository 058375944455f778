import type { Micros } from '../span/span.js';
import type { ApiKey, Project, StoredApiKey, User } from './identity.js';

/**
 * Where users, projects and keys are kept.
 *
 * Guarantees: a write that returned is durable. Every read sees every write that returned before it, those of other
 * processes too. Ids, emails and key hashes are unique. Throws `DomainError('unavailable')` when the store does not
 * answer; nothing is written then.
 */
export interface IdentityStore {
  /** Changes when another process has written anything since the last call; cheap enough for every request. */
  changeCounter(): number;
  /** Runs `work` as one transaction that excludes other writers: all of it is kept, or nothing. */
  transaction<T>(work: () => T): T;

  /** Throws `DomainError('conflict')` when the id or the email is taken. */
  insertUser(user: User): void;
  /** Ascending by creation. */
  listUsers(): User[];

  /** Throws `DomainError('conflict')` when the id is taken. */
  insertProject(project: Project): void;
  findProject(id: string): Project | undefined;
  /** Ascending by creation. */
  listProjects(): Project[];

  /** Throws `DomainError('conflict')` when the id or the hash is taken. The user and the project must exist. */
  insertKey(key: StoredApiKey): void;
  /** Revoked keys are found too. */
  findKeyByHash(hash: Buffer): StoredApiKey | undefined;
  /** Keys that are not revoked, ascending by creation; of one project or (null) of all. */
  listKeys(projectId: string | null): ApiKey[];
  /** False when there is no such key that is not revoked yet; `projectId` null: in any project. */
  revokeKey(projectId: string | null, keyId: string, at: Micros): boolean;
  /** Records uses; an older time never replaces a newer one. */
  recordUses(uses: ReadonlyMap<string, Micros>): void;
}
