import { DomainError } from '../../domain/errors.js';
import type {
  ApiKey,
  ListedApiKey,
  Project,
  ProjectChange,
  StoredApiKey,
  User,
} from '../../domain/identity/identity.js';
import type { IdentityStore } from '../../domain/identity/identity-store.js';
import type { Micros } from '../../domain/span/span.js';
import { guarded, isDuplicate, WatchedStore, type Database } from './database.js';

const PROJECT_COLUMNS = 'id, name, created_at, retention_days';
const KEY_COLUMNS = 'id, project_id, user_id, name, prefix, access, created_at, last_used_at, revoked_at';

function prepare(db: Database) {
  return {
    insertUser: db.prepare<[User]>(
      'INSERT INTO users (id, name, email, created_at) VALUES (@id, @name, @email, @created_at)',
    ),
    listUsers: db.prepare<[], User>(
      `SELECT id, name, email, created_at FROM users
       WHERE id NOT IN (SELECT user_id FROM feedback_guests) AND id NOT IN (SELECT user_id FROM imported_people)
       ORDER BY created_at, id`,
    ),
    findUser: db.prepare<[string], User>('SELECT id, name, email, created_at FROM users WHERE id = ?'),
    insertProject: db.prepare<[Project]>(
      `INSERT INTO projects (${PROJECT_COLUMNS}) VALUES (@id, @name, @created_at, @retention_days)`,
    ),
    findProject: db.prepare<[string], Project>(`SELECT ${PROJECT_COLUMNS} FROM projects WHERE id = ?`),
    changeProject: db.prepare<{ id: string; name: string | null; days: number | null; keepsDays: 0 | 1 }>(
      `UPDATE projects SET name = ifnull(@name, name), retention_days = iif(@keepsDays, retention_days, @days) WHERE id = @id`,
    ),
    listProjects: db.prepare<[], Project>(`SELECT ${PROJECT_COLUMNS} FROM projects ORDER BY created_at, id`),
    insertKey: db.prepare<[StoredApiKey]>(
      `INSERT INTO api_keys (${KEY_COLUMNS}, hash)
       VALUES (@id, @project_id, @user_id, @name, @prefix, @access, @created_at, @last_used_at, @revoked_at, @hash)`,
    ),
    findKeyByHash: db.prepare<[Buffer], StoredApiKey>(`SELECT ${KEY_COLUMNS}, hash FROM api_keys WHERE hash = ?`),
    findKey: db.prepare<[string], ApiKey>(`SELECT ${KEY_COLUMNS} FROM api_keys WHERE id = ?`),
    listKeys: db.prepare<{ projectId: string | null }, ListedApiKey>(
      `SELECT ${KEY_COLUMNS}, (SELECT u.name FROM users AS u WHERE u.id = user_id) AS user_name FROM api_keys
       WHERE revoked_at IS NULL AND (@projectId IS NULL OR project_id = @projectId) ORDER BY created_at, id`,
    ),
    revokeKey: db.prepare<{ projectId: string | null; keyId: string; at: Micros }>(
      `UPDATE api_keys SET revoked_at = @at
       WHERE id = @keyId AND revoked_at IS NULL AND (@projectId IS NULL OR project_id = @projectId)`,
    ),
    recordUse: db.prepare<{ keyId: string; at: Micros }>(
      'UPDATE api_keys SET last_used_at = @at WHERE id = @keyId AND (last_used_at IS NULL OR last_used_at < @at)',
    ),
  };
}

/** Users, projects and keys in the SQLite file. */
export class SqliteIdentityStore extends WatchedStore<ReturnType<typeof prepare>> implements IdentityStore {
  constructor(db: Database) {
    super(db, prepare);
  }

  transaction<T>(work: () => T): T {
    return guarded(() => this.db.transaction(work).immediate());
  }

  insertUser(user: User): void {
    inserted('user', () => this.statements.insertUser.run(user));
  }

  listUsers(): User[] {
    return guarded(() => this.statements.listUsers.all());
  }

  findUser(id: string): User | undefined {
    return guarded(() => this.statements.findUser.get(id));
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

  listProjects(): Project[] {
    return guarded(() => this.statements.listProjects.all());
  }

  insertKey(key: StoredApiKey): void {
    inserted('API key', () => this.statements.insertKey.run(key));
  }

  findKeyByHash(hash: Buffer): StoredApiKey | undefined {
    return guarded(() => this.statements.findKeyByHash.get(hash));
  }

  findKey(id: string): ApiKey | undefined {
    return guarded(() => this.statements.findKey.get(id));
  }

  listKeys(projectId: string | null): ListedApiKey[] {
    return guarded(() => this.statements.listKeys.all({ projectId }));
  }

  revokeKey(projectId: string | null, keyId: string, at: Micros): boolean {
    return guarded(() => this.statements.revokeKey.run({ projectId, keyId, at }).changes > 0);
  }

  recordUses(uses: ReadonlyMap<string, Micros>): void {
    this.transaction(() => {
      for (const [keyId, at] of uses) this.statements.recordUse.run({ keyId, at });
    });
  }
}

function inserted(what: string, work: () => unknown): void {
  try {
    guarded(work);
  } catch (error) {
    if (isDuplicate(error)) throw new DomainError('conflict', `This ${what} exists already`, { cause: error });
    throw error;
  }
}
