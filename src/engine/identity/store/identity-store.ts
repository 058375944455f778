import { DomainError } from '../../errors.js';
import type { ApiKey, ListedApiKey, Project, ProjectChange, StoredApiKey, User } from '../identity.js';
import type { IdentityStore, KeyUse, RevokedKey, RevokedPortion } from '../identity-store.js';
import type { Micros } from '../../timestamp.js';
import { guarded, isDuplicate, transact, WatchedStore, type Database } from '../../metadata/database.js';
import { SqliteExternalIdentityStore } from './external-identity-store.js';
import { keyOfRow, rowOfKey, type KeyRow } from './key-rows.js';
import { roleIn, SqliteMemberStore } from './member-store.js';
import { unnamed, userRemoval } from './user-removal.js';

const PROJECT_COLUMNS = 'id, name, created_at, retention_days';
const KEY_COLUMNS =
  'id, project_id, user_id, name, prefix, access, scopes, personal, created_at, last_used_at, last_used_from, expires_at, revoked_at';
const KEY_READ = `${KEY_COLUMNS}, rotated_at, ${roleIn('api_keys')} AS role`;

/** Users who have an account, by an index in this order: there may be very many who have none. */
const ACCOUNTS = `SELECT id, name, email, created_at FROM users AS u INDEXED BY users_by_creation
  WHERE NOT EXISTS (SELECT 1 FROM feedback_guests WHERE user_id = u.id)
    AND NOT EXISTS (SELECT 1 FROM imported_people WHERE user_id = u.id)
  ORDER BY created_at, id`;

interface RevokedBounds {
  readonly before: Micros;
  readonly afterAt: Micros;
  readonly afterId: string;
  readonly limit: number;
  readonly keptHash: Buffer | null;
}

interface RevokedRow {
  readonly id: string;
  readonly user_id: string;
  readonly revoked_at: Micros;
  readonly goes: 'alone' | 'with its user' | null;
}

/** Of a revoked key `k`, whether its user has another one in the project that stands, or was revoked later. */
const HAS_LATER = ['o.revoked_at IS NULL', '(o.revoked_at, o.id) > (k.revoked_at, k.id)']
  .map(
    (when) =>
      `EXISTS (SELECT 1 FROM api_keys AS o WHERE ${when} AND o.user_id = k.user_id AND o.project_id = k.project_id)`,
  )
  .join(' OR ');

/** Of a revoked key `k`, whether its user was invited, is none of the people, and neither has another key nor left anything. */
const leftNothing = (db: Database) => `(SELECT invited FROM users WHERE id = k.user_id) = 1
  AND NOT EXISTS (SELECT 1 FROM members WHERE user_id = k.user_id)
  AND NOT EXISTS (SELECT 1 FROM api_keys AS o WHERE o.user_id = k.user_id AND o.id <> k.id)
  AND NOT EXISTS (SELECT 1 FROM imported_people WHERE user_id = k.user_id)
  AND ${unnamed(db, 'k.user_id', ['api_keys'])}`;

function prepare(db: Database) {
  return { ...userStatements(db), ...projectStatements(db), ...keyStatements(db), ...revocationStatements(db) };
}

function userStatements(db: Database) {
  return {
    insertUser: db.prepare<[User & { readonly invited: 0 | 1 }]>(
      'INSERT INTO users (id, name, email, created_at, invited) VALUES (@id, @name, @email, @created_at, @invited)',
    ),
    listUsers: db.prepare<[], User>(ACCOUNTS),
    firstUser: db.prepare<[], User>(`${ACCOUNTS} LIMIT 1`),
    isAccount: db
      .prepare<{ id: string }, number>(
        `SELECT EXISTS (SELECT 1 FROM users WHERE id = @id)
           AND NOT EXISTS (SELECT 1 FROM feedback_guests WHERE user_id = @id)
           AND NOT EXISTS (SELECT 1 FROM imported_people WHERE user_id = @id)`,
      )
      .pluck(),
    findUser: db.prepare<[string], User>('SELECT id, name, email, created_at FROM users WHERE id = ?'),
    isEmailTaken: db.prepare<[string], number>('SELECT 1 FROM users WHERE email = ?').pluck(),
  };
}

function projectStatements(db: Database) {
  return {
    insertProject: db.prepare<[Project]>(
      `INSERT INTO projects (${PROJECT_COLUMNS}) VALUES (@id, @name, @created_at, @retention_days)`,
    ),
    findProject: db.prepare<[string], Project>(`SELECT ${PROJECT_COLUMNS} FROM projects WHERE id = ?`),
    changeProject: db.prepare<{ id: string; name: string | null; days: number | null; keepsDays: 0 | 1 }>(
      `UPDATE projects SET name = ifnull(@name, name), retention_days = iif(@keepsDays, retention_days, @days) WHERE id = @id`,
    ),
    isBeingDeleted: db
      .prepare<[string], number>("SELECT 1 FROM deletions WHERE project_id = ? AND what = 'project'")
      .pluck(),
    listProjects: db.prepare<[], Project>(`SELECT ${PROJECT_COLUMNS} FROM projects ORDER BY created_at, id`),
  };
}

function keyStatements(db: Database) {
  return {
    insertKey: db.prepare<[Omit<KeyRow<StoredApiKey>, 'role'> & { readonly ofStart: 0 | 1 }]>(
      `INSERT INTO api_keys (${KEY_COLUMNS}, hash, of_start)
       VALUES (@id, @project_id, @user_id, @name, @prefix, @access, @scopes, @personal, @created_at, @last_used_at, @last_used_from,
         @expires_at, @revoked_at, @hash, @ofStart)`,
    ),
    findKeyByHash: db.prepare<[Buffer], KeyRow<StoredApiKey>>(`SELECT ${KEY_READ}, hash FROM api_keys WHERE hash = ?`),
    findKey: db.prepare<[string], KeyRow>(`SELECT ${KEY_READ} FROM api_keys WHERE id = ?`),
    listKeys: db.prepare<{ projectId: string | null }, KeyRow<ListedApiKey>>(
      `SELECT ${KEY_READ}, (SELECT u.name FROM users AS u WHERE u.id = user_id) AS user_name FROM api_keys
       WHERE revoked_at IS NULL AND (@projectId IS NULL OR project_id = @projectId) ORDER BY created_at, id`,
    ),
    countKeys: db
      .prepare<[string], number>('SELECT count(*) FROM api_keys WHERE project_id = ? AND revoked_at IS NULL')
      .pluck(),
    freeKey: db.prepare<[Buffer]>(
      `DELETE FROM api_keys WHERE hash = ?
         AND EXISTS (SELECT 1 FROM deletions AS d WHERE d.project_id = api_keys.project_id AND d.what = 'project')`,
    ),
    replaceKey: db.prepare<{ keyId: string; now: Micros; at: Micros }>(
      `UPDATE api_keys SET expires_at = min(ifnull(expires_at, @at), @at), rotated_at = @now
       WHERE id = @keyId AND rotated_at IS NULL`,
    ),
    recordUse: db.prepare<KeyUse & { keyId: string }>(
      `UPDATE api_keys SET last_used_at = @at, last_used_from = @from
       WHERE id = @keyId AND (last_used_at IS NULL OR last_used_at < @at)`,
    ),
  };
}

function revocationStatements(db: Database) {
  return {
    revokeKey: db.prepare<{ projectId: string | null; keyId: string; at: Micros }>(
      `UPDATE api_keys SET revoked_at = @at
       WHERE id = @keyId AND revoked_at IS NULL AND (@projectId IS NULL OR project_id = @projectId)`,
    ),
    revokeExpired: db.prepare<{ before: Micros }>(
      `UPDATE api_keys SET revoked_at = expires_at WHERE id IN (
         SELECT id FROM api_keys WHERE expires_at < @before AND expires_at IS NOT NULL AND revoked_at IS NULL
         ORDER BY expires_at LIMIT 50)`,
    ),
    // Of each user in each project the last key stays, standing or revoked: imports know by it who was there, unless that is nowhere.
    revoked: db.prepare<RevokedBounds, RevokedRow>(
      `SELECT id, user_id, revoked_at, CASE
           WHEN of_start OR hash IS @keptHash THEN NULL
           WHEN ${HAS_LATER} THEN 'alone'
           WHEN ${leftNothing(db)} THEN 'with its user' END AS goes
       FROM api_keys AS k
       WHERE revoked_at IS NOT NULL AND revoked_at < @before AND (revoked_at, id) > (@afterAt, @afterId)
       ORDER BY revoked_at, id LIMIT @limit`,
    ),
    removeKeys: db.prepare<[string]>('DELETE FROM api_keys WHERE id IN (SELECT value FROM json_each(?))'),
  };
}

/** Users, projects and keys in the SQLite file. */
export class SqliteIdentityStore extends WatchedStore<ReturnType<typeof prepare>> implements IdentityStore {
  readonly members: SqliteMemberStore;
  readonly externals: SqliteExternalIdentityStore;
  readonly #removeUsers: ReturnType<typeof userRemoval>;

  constructor(db: Database) {
    super(db, prepare);
    this.members = new SqliteMemberStore(db);
    this.externals = new SqliteExternalIdentityStore(db);
    this.#removeUsers = userRemoval(db);
  }

  transaction<T>(work: () => T): T {
    return transact(this.db, work);
  }

  insertUser(user: User, invited: boolean): void {
    inserted('user', () => this.statements.insertUser.run({ ...user, invited: invited ? 1 : 0 }));
  }

  listUsers(): User[] {
    return guarded(() => this.statements.listUsers.all());
  }

  firstUser(): User | undefined {
    return guarded(() => this.statements.firstUser.get());
  }

  isAccount(id: string): boolean {
    return guarded(() => this.statements.isAccount.get({ id }) === 1);
  }

  findUser(id: string): User | undefined {
    return guarded(() => this.statements.findUser.get(id));
  }

  isEmailTaken(email: string): boolean {
    return guarded(() => this.statements.isEmailTaken.get(email) === 1);
  }

  insertProject(project: Project): void {
    inserted('project', () => this.statements.insertProject.run(project));
  }

  findProject(id: string): Project | undefined {
    return guarded(() => this.statements.findProject.get(id));
  }

  changeProject(id: string, { name, retention_days: days }: ProjectChange): boolean {
    const values = { id, name: name ?? null, days: days ?? null, keepsDays: days === undefined ? 1 : 0 } as const;
    return guarded(() => this.statements.changeProject.run(values).changes > 0);
  }

  isBeingDeleted(projectId: string): boolean {
    return guarded(() => this.statements.isBeingDeleted.get(projectId) === 1);
  }

  listProjects(): Project[] {
    return guarded(() => this.statements.listProjects.all());
  }

  insertKey(key: StoredApiKey, ofStart: boolean): void {
    inserted('API key', () => this.statements.insertKey.run({ ...rowOfKey(key), ofStart: ofStart ? 1 : 0 }));
  }

  findKeyByHash(hash: Buffer): StoredApiKey | undefined {
    const row = guarded(() => this.statements.findKeyByHash.get(hash));
    return row && keyOfRow(row);
  }

  freeKey(hash: Buffer): void {
    guarded(() => this.statements.freeKey.run(hash));
  }

  findKey(id: string): ApiKey | undefined {
    const row = guarded(() => this.statements.findKey.get(id));
    return row && keyOfRow(row);
  }

  listKeys(projectId: string | null): ListedApiKey[] {
    return guarded(() => this.statements.listKeys.all({ projectId })).map(keyOfRow);
  }

  countKeys(projectId: string): number {
    return guarded(() => this.statements.countKeys.get(projectId) ?? 0);
  }

  removeRevoked({ before, after, limit, keep: keptHash }: RevokedPortion): RevokedKey | null {
    return this.transaction(() => {
      const bounds = { before, afterAt: after?.revoked_at ?? 0, afterId: after?.id ?? '', limit, keptHash };
      const rows = this.statements.revoked.all(bounds);
      const going = rows.filter(({ goes }) => goes !== null).map(({ id }) => id);
      if (going.length > 0) this.statements.removeKeys.run(JSON.stringify(going));
      const users = rows.filter(({ goes }) => goes === 'with its user').map(({ user_id }) => user_id);
      if (users.length > 0) this.#removeUsers(users);
      return rows.length < limit ? null : (rows.at(-1) ?? null);
    });
  }

  revokeKey(projectId: string | null, keyId: string, at: Micros): boolean {
    return guarded(() => this.statements.revokeKey.run({ projectId, keyId, at }).changes > 0);
  }

  replaceKey(keyId: string, now: Micros, at: Micros): boolean {
    return guarded(() => this.statements.replaceKey.run({ keyId, now, at }).changes > 0);
  }

  revokeExpired(before: Micros): void {
    guarded(() => this.statements.revokeExpired.run({ before }));
  }

  recordUses(uses: ReadonlyMap<string, KeyUse>): void {
    this.transaction(() => {
      for (const [keyId, use] of uses) this.statements.recordUse.run({ keyId, ...use });
    });
  }
}

function inserted(what: string, work: () => unknown): void {
  try {
    guarded(work);
  } catch (error) {
    if (isDuplicate(error)) throw new DomainError('conflict', `This ${what} already exists`, { cause: error });
    throw error;
  }
}
