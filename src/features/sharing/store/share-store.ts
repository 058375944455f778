import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Micros } from '../../../engine/timestamp.js';
import type {
  ListedShareLink,
  ShareLink,
  ShareLinkBounds,
  ShareLinkDraft,
  ShareStore,
  TracePart,
} from '../share-link.js';

const FIELDS = 'l.id, l.project_id, l.trace_id, l.left_out, l.created_at, l.expires_at, l.revoked_at';
const LISTED = `SELECT ${FIELDS}, l.last_used_at, l.uses, u.id AS creator_id, u.name AS creator_name
  FROM share_links AS l JOIN users AS u ON u.id = l.created_by`;
const WORKS = 'revoked_at IS NULL AND expires_at > @now';
/** Links that ended long ago, of which each new one has so many forgotten. */
const FORGOTTEN_AT_ONCE = 100;

type Row<T extends ShareLink> = Omit<T, 'left_out'> & { readonly left_out: string };
interface OfProject {
  readonly projectId: string;
  readonly now: Micros;
}

function prepare(db: Database) {
  return {
    ofTrace: db
      .prepare<OfProject & { traceId: string }, number>(
        `SELECT count(*) FROM share_links WHERE project_id = @projectId AND trace_id = @traceId AND ${WORKS}`,
      )
      .pluck(),
    ofProject: db
      .prepare<OfProject, number>(`SELECT count(*) FROM share_links WHERE project_id = @projectId AND ${WORKS}`)
      .pluck(),
    kept: db.prepare<[string], number>('SELECT count(*) FROM share_links WHERE project_id = ?').pluck(),
    forget: db.prepare<{ projectId: string; before: Micros }>(
      `DELETE FROM share_links WHERE id IN (
         SELECT id FROM share_links WHERE project_id = @projectId AND created_at < @before
           AND min(expires_at, ifnull(revoked_at, expires_at)) < @before
         ORDER BY created_at LIMIT ${FORGOTTEN_AT_ONCE})`,
    ),
    insert: db.prepare<Omit<ShareLinkDraft, 'left_out'> & { readonly left_out: string }>(
      `INSERT INTO share_links (id, project_id, trace_id, left_out, token_hash, created_at, created_by, expires_at, after_deletion)
       VALUES (@id, @project_id, @trace_id, @left_out, @token_hash, @created_at, @created_by, @expires_at, @after_deletion)`,
    ),
    list: db.prepare<Window & { projectId: string }, Row<ListedShareLink>>(
      `${LISTED} WHERE l.project_id = @projectId ORDER BY l.created_at DESC, l.id DESC LIMIT @limit OFFSET @offset`,
    ),
    listOfTrace: db.prepare<Window & { projectId: string; traceId: string }, Row<ListedShareLink>>(
      `${LISTED} WHERE l.project_id = @projectId AND l.trace_id = @traceId
       ORDER BY l.created_at DESC, l.id DESC LIMIT @limit OFFSET @offset`,
    ),
    find: db.prepare<[string, string], Row<ListedShareLink>>(`${LISTED} WHERE l.project_id = ? AND l.id = ?`),
    revoke: db.prepare<{ projectId: string; id: string; at: Micros }>(
      `UPDATE share_links SET revoked_at = coalesce(revoked_at, @at) WHERE project_id = @projectId AND id = @id`,
    ),
    remove: db.prepare<[string]>('DELETE FROM share_links WHERE id = ?'),
    byToken: db.prepare<[Buffer], Row<ShareLink>>(
      `SELECT ${FIELDS} FROM share_links AS l WHERE l.token_hash = ?
         AND EXISTS (SELECT 1 FROM members AS m WHERE m.project_id = l.project_id AND m.user_id = l.created_by)
         AND NOT EXISTS (SELECT 1 FROM deletions AS d WHERE d.project_id = l.project_id AND d.what = 'project')`,
    ),
    used: db.prepare<{ id: string; at: Micros }>(
      'UPDATE share_links SET uses = uses + 1, last_used_at = @at WHERE id = @id',
    ),
    allowed: db.prepare<[string], 0 | 1>('SELECT allowed FROM share_settings WHERE project_id = ?').pluck(),
    allow: db.prepare<[string, 0 | 1]>(
      `INSERT INTO share_settings (project_id, allowed) VALUES (?, ?)
       ON CONFLICT (project_id) DO UPDATE SET allowed = excluded.allowed`,
    ),
  };
}

/** Links that share traces, in the SQLite file. */
export class SqliteShareStore implements ShareStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  insert(draft: ShareLinkDraft, bounds: ShareLinkBounds): keyof typeof MET | null {
    const { ofTrace, ofProject, kept, forget, insert } = this.#statements;
    const { project_id: projectId, trace_id: traceId, created_at: now } = draft;
    const store = () => {
      if ((ofTrace.get({ projectId, traceId, now }) ?? 0) >= bounds.ofTrace) return MET.ofTrace;
      if ((ofProject.get({ projectId, now }) ?? 0) >= bounds.ofProject) return MET.ofProject;
      forget.run({ projectId, before: bounds.endedBefore });
      if ((kept.get(projectId) ?? 0) >= bounds.kept) return MET.kept;
      insert.run({ ...draft, left_out: JSON.stringify(draft.left_out) });
      return null;
    };
    return transact(this.#db, store);
  }

  list(projectId: string, traceId: string | null, window: Window): ListedShareLink[] {
    const { list, listOfTrace } = this.#statements;
    const rows = guarded(() =>
      traceId === null ? list.all({ projectId, ...window }) : listOfTrace.all({ projectId, traceId, ...window }),
    );
    return rows.map((row) => toLink<ListedShareLink>(row));
  }

  find(projectId: string, id: string): ListedShareLink | undefined {
    const row = guarded(() => this.#statements.find.get(projectId, id));
    return row && toLink<ListedShareLink>(row);
  }

  revoke(projectId: string, id: string, at: Micros): boolean {
    return guarded(() => this.#statements.revoke.run({ projectId, id, at }).changes > 0);
  }

  remove(id: string): void {
    guarded(() => this.#statements.remove.run(id));
  }

  findByTokenHash(hash: Buffer): ShareLink | undefined {
    const row = guarded(() => this.#statements.byToken.get(hash));
    return row && toLink<ShareLink>(row);
  }

  used(id: string, at: Micros): void {
    guarded(() => this.#statements.used.run({ id, at }));
  }

  isAllowed(projectId: string): boolean {
    return guarded(() => this.#statements.allowed.get(projectId)) !== 0;
  }

  allow(projectId: string, allowed: boolean): void {
    guarded(() => this.#statements.allow.run(projectId, allowed ? 1 : 0));
  }
}

/** The bounds that may be met. */
const MET = { ofTrace: 'ofTrace', ofProject: 'ofProject', kept: 'kept' } as const;

function toLink<T extends ShareLink>({ left_out, ...row }: Row<T>): T {
  return { ...row, left_out: JSON.parse(left_out) as TracePart[] } as unknown as T;
}
