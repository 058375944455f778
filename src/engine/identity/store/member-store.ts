import { DomainError } from '../../errors.js';
import type { Window } from '../../schema/page.js';
import type { Micros } from '../../timestamp.js';
import { guarded, isDuplicate, transact, type Database } from '../../metadata/database.js';
import type { ListedMember, Member, MemberStore } from '../member-store.js';
import type { Role } from '../roles.js';

type Stored<Row extends Member> = Omit<Row, 'by_groups'> & { readonly by_groups: 0 | 1 };
type ListedRow = Omit<Stored<ListedMember>, 'pending'> & { readonly pending: 0 | 1 };
type InProject = { readonly projectId: string; readonly userId: string };

/** SQL for the role of the user of a key or another row with both columns; null: they are none of the project's people. */
export const roleIn = (row: string) =>
  `(SELECT m.role FROM members AS m WHERE m.project_id = ${row}.project_id AND m.user_id = ${row}.user_id)`;

const STANDING_SESSION = `sign_in_keys AS of JOIN api_keys AS k ON k.id = of.key_id AND k.revoked_at IS NULL
  JOIN sign_ins AS s ON s.id = of.sign_in_id AND s.stage = 'session' AND s.expires_at > @now
  WHERE k.user_id = m.user_id AND k.project_id = m.project_id`;

/** Of a user, whether they have not taken the invitation yet that they were made for. */
const pending = (user: string) =>
  `EXISTS (SELECT 1 FROM sign_ins AS c WHERE c.user_id = ${user} AND c.stage = 'code' AND c.invited = 1)`;

const LISTED = `SELECT m.project_id, m.user_id, m.role, m.created_at, m.by_groups, u.name AS user_name, u.email,
    (SELECT count(*) FROM api_keys AS k WHERE k.user_id = m.user_id AND k.project_id = m.project_id
       AND k.revoked_at IS NULL AND k.personal = 0) AS keys,
    ${pending('m.user_id')} AS pending,
    (SELECT count(*) FROM ${STANDING_SESSION}) AS sessions,
    (SELECT max(ifnull(s.last_used_at, s.created_at)) FROM ${STANDING_SESSION}) AS last_seen_at
  FROM members AS m CROSS JOIN users AS u ON u.id = m.user_id`;

function prepare(db: Database) {
  return {
    roleOf: db
      .prepare<InProject, Role>('SELECT role FROM members WHERE project_id = @projectId AND user_id = @userId')
      .pluck(),
    insert: db.prepare<Stored<Member>>(
      `INSERT INTO members (project_id, user_id, role, created_at, by_groups)
       VALUES (@project_id, @user_id, @role, @created_at, @by_groups)`,
    ),
    changeRole: db.prepare<InProject & { role: Role; byGroups: 0 | 1 }>(
      'UPDATE members SET role = @role, by_groups = @byGroups WHERE project_id = @projectId AND user_id = @userId',
    ),
    remove: db.prepare<InProject>('DELETE FROM members WHERE project_id = @projectId AND user_id = @userId'),
    revokeKeys: db.prepare<InProject & { at: Micros }>(
      `UPDATE api_keys SET revoked_at = @at
       WHERE project_id = @projectId AND user_id = @userId AND revoked_at IS NULL`,
    ),
    list: db.prepare<Window & { projectId: string; now: Micros }, ListedRow>(
      `${LISTED} WHERE m.project_id = @projectId ORDER BY m.created_at, m.user_id LIMIT @limit OFFSET @offset`,
    ),
    find: db.prepare<InProject & { now: Micros }, ListedRow>(
      `${LISTED} WHERE m.project_id = @projectId AND m.user_id = @userId`,
    ),
    count: db.prepare<[string], number>('SELECT count(*) FROM members WHERE project_id = ?').pluck(),
    countOwners: db
      .prepare<[string], number>(
        `SELECT count(*) FROM members AS m WHERE m.project_id = ? AND m.role = 'owner' AND NOT ${pending('m.user_id')}`,
      )
      .pluck(),
    ofUser: db.prepare<[string], Stored<Member>>(
      `SELECT project_id, user_id, role, created_at, by_groups FROM members WHERE user_id = ?
       ORDER BY created_at, project_id`,
    ),
    personalKey: db
      .prepare<InProject, string>(
        `SELECT id FROM api_keys
         WHERE user_id = @userId AND project_id = @projectId AND personal = 1 AND revoked_at IS NULL LIMIT 1`,
      )
      .pluck(),
  };
}

/** People of projects in the SQLite file. */
export class SqliteMemberStore implements MemberStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  roleOf(projectId: string, userId: string): Role | null {
    return guarded(() => this.#statements.roleOf.get({ projectId, userId }) ?? null);
  }

  insert(member: Member): void {
    try {
      guarded(() => this.#statements.insert.run({ ...member, by_groups: member.by_groups ? 1 : 0 }));
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw new DomainError('conflict', 'This person is already in the project', { cause: error });
    }
  }

  changeRole(projectId: string, userId: string, role: Role, byGroups: boolean): boolean {
    const values = { projectId, userId, role, byGroups: byGroups ? 1 : 0 } as const;
    return guarded(() => this.#statements.changeRole.run(values).changes > 0);
  }

  remove(projectId: string, userId: string, at: Micros): boolean {
    const { remove, revokeKeys } = this.#statements;
    return transact(this.#db, () => {
      if (remove.run({ projectId, userId }).changes === 0) return false;
      revokeKeys.run({ projectId, userId, at });
      return true;
    });
  }

  list(projectId: string, window: Window, now: Micros): ListedMember[] {
    return guarded(() => this.#statements.list.all({ projectId, ...window, now })).map(listed);
  }

  find(projectId: string, userId: string, now: Micros): ListedMember | undefined {
    const row = guarded(() => this.#statements.find.get({ projectId, userId, now }));
    return row && listed(row);
  }

  count(projectId: string): number {
    return guarded(() => this.#statements.count.get(projectId) ?? 0);
  }

  countOwners(projectId: string): number {
    return guarded(() => this.#statements.countOwners.get(projectId) ?? 0);
  }

  personalKey(projectId: string, userId: string): string | undefined {
    return guarded(() => this.#statements.personalKey.get({ projectId, userId }));
  }

  ofUser(userId: string): Member[] {
    return guarded(() => this.#statements.ofUser.all(userId)).map((row) => ({
      ...row,
      by_groups: row.by_groups === 1,
    }));
  }
}

function listed(row: ListedRow): ListedMember {
  return { ...row, pending: row.pending === 1, by_groups: row.by_groups === 1 };
}
