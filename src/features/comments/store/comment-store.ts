import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { Comment, CommentBounds, CommentDraft, CommentStore } from '../comment.js';

const COMMENT = `SELECT c.id, c.project_id, c.trace_id, c.span_id, c.user_id, u.name AS user_name, c.text, c.created_at, c.edited_at
  FROM comments AS c JOIN users AS u ON u.id = c.user_id`;
const OF_TRACE = 'project_id = @projectId AND trace_id = @traceId';

interface OfTrace {
  readonly projectId: string;
  readonly traceId: string;
  readonly spanId: string | null;
}

function prepare(db: Database) {
  return {
    held: db.prepare<Omit<OfTrace, 'spanId'>, number>(`SELECT count(*) FROM comments WHERE ${OF_TRACE}`).pluck(),
    heldByProject: db
      .prepare<[string], number>('SELECT count(*) FROM comments INDEXED BY comments_in_order WHERE project_id = ?')
      .pluck(),
    insert: db.prepare<CommentDraft>(
      `INSERT INTO comments (id, project_id, trace_id, span_id, user_id, text, created_at, after_deletion)
       VALUES (@id, @project_id, @trace_id, @span_id, @user_id, @text, @created_at, @after_deletion)`,
    ),
    find: db.prepare<[string, string], Comment>(`${COMMENT} WHERE c.project_id = ? AND c.id = ?`),
    list: db.prepare<OfTrace & Window, Comment>(
      `${COMMENT} WHERE c.project_id = @projectId AND c.trace_id = @traceId AND (@spanId IS NULL OR c.span_id = @spanId)
       ORDER BY c.created_at, c.id LIMIT @limit OFFSET @offset`,
    ),
    count: db
      .prepare<OfTrace, number>(
        `SELECT count(*) FROM comments WHERE ${OF_TRACE} AND (@spanId IS NULL OR span_id = @spanId)`,
      )
      .pluck(),
    edit: db.prepare<{ id: string; text: string; at: Micros }>(
      'UPDATE comments SET text = @text, edited_at = @at WHERE id = @id',
    ),
    remove: db.prepare<[string]>('DELETE FROM comments WHERE id = ?'),
  };
}

/** Comments in the SQLite file. */
export class SqliteCommentStore implements CommentStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  insert(draft: CommentDraft, most: CommentBounds): keyof CommentBounds | null {
    const { held, heldByProject, insert } = this.#statements;
    const store = () => {
      const { project_id, trace_id } = draft;
      if ((held.get({ projectId: project_id, traceId: trace_id }) ?? 0) >= most.ofTrace) return 'ofTrace' as const;
      if ((heldByProject.get(project_id) ?? 0) >= most.ofProject) return 'ofProject' as const;
      insert.run(draft);
      return null;
    };
    return transact(this.#db, store);
  }

  find(projectId: string, id: string): Comment | undefined {
    return guarded(() => this.#statements.find.get(projectId, id));
  }

  list(projectId: string, traceId: string, spanId: string | null, window: Window): Comment[] {
    return guarded(() => this.#statements.list.all({ projectId, traceId, spanId, ...window }));
  }

  count(projectId: string, traceId: string, spanId: string | null): number {
    return guarded(() => this.#statements.count.get({ projectId, traceId, spanId }) ?? 0);
  }

  edit(id: string, text: string, at: Micros): void {
    guarded(() => this.#statements.edit.run({ id, text, at }));
  }

  remove(id: string): void {
    guarded(() => this.#statements.remove.run(id));
  }
}
