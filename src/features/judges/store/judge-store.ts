import type { Judge, JudgeSettings } from '../judge.js';
import type { JudgeStore, TaskDraft } from '../judge-store.js';
import type { Window } from '../../../engine/schema/page.js';
import type { PromptStore } from '../../prompts/prompt-store.js';
import type { Micros } from '../../../engine/timestamp.js';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import { CHANGED_COLUMNS, JUDGE_COLUMNS, toJudge, toRow, type JudgeRow } from './judge-rows.js';

type Changed = Pick<Judge, 'id' | 'project_id' | 'judged_since' | 'updated_at'> & JudgeSettings;

const ALL = JUDGE_COLUMNS.join(', ');

function prepare(db: Database) {
  return {
    insert: db.prepare<JudgeRow>(
      `INSERT INTO judges (${ALL}) VALUES (${JUDGE_COLUMNS.map((name) => `@${name}`).join(', ')})`,
    ),
    find: db.prepare<[string, string], JudgeRow>(`SELECT ${ALL} FROM judges WHERE project_id = ? AND id = ?`),
    list: db.prepare<Window & { projectId: string }, JudgeRow>(
      `SELECT ${ALL} FROM judges WHERE project_id = @projectId AND deleted_at IS NULL
       ORDER BY created_at, rowid LIMIT @limit OFFSET @offset`,
    ),
    count: db
      .prepare<[string], number>('SELECT count(*) FROM judges WHERE project_id = ? AND deleted_at IS NULL')
      .pluck(),
    enabled: db.prepare<[], JudgeRow>(
      `SELECT ${ALL} FROM judges WHERE enabled = 1 AND deleted_at IS NULL ORDER BY created_at, rowid`,
    ),
    update: db.prepare<Omit<JudgeRow, 'created_at' | 'created_by' | 'deleted_at'>>(
      `UPDATE judges SET ${CHANGED_COLUMNS.map((name) => `${name} = @${name}`).join(', ')}
       WHERE project_id = @project_id AND id = @id AND deleted_at IS NULL`,
    ),
    remove: db.prepare<{ projectId: string; id: string; at: Micros }>(
      `UPDATE judges SET deleted_at = @at, enabled = 0
       WHERE project_id = @projectId AND id = @id AND deleted_at IS NULL`,
    ),
    cancelAutomatic: db.prepare<[string]>(
      `DELETE FROM judge_runs WHERE judge_id = ? AND state = 'queued' AND origin = 'automatic'`,
    ),
    hastenWaiting: db.prepare<{ id: string; dueBy: Micros }>(
      `UPDATE judge_runs SET next_attempt_at = min(next_attempt_at, @dueBy), again_at = min(again_at, @dueBy)
       WHERE judge_id = @id AND state = 'queued' AND origin = 'automatic' AND subject_id IS NOT NULL AND attempts = 0
         AND (next_attempt_at > @dueBy OR again_at > @dueBy)`,
    ),
    cancelAll: db.prepare<[string]>(`DELETE FROM judge_runs WHERE judge_id = ? AND state = 'queued'`),
  };
}

/** Judges in the SQLite file. */
export class SqliteJudgeStore implements JudgeStore {
  readonly #db: Database;
  readonly #prompts: Pick<PromptStore, 'hasPrompt' | 'ensureVersion'>;
  readonly #statements: ReturnType<typeof prepare>;

  /** @param prompts the store of prompts on the same database: both take part in one transaction */
  constructor(db: Database, prompts: Pick<PromptStore, 'hasPrompt' | 'ensureVersion'>) {
    this.#db = db;
    this.#prompts = prompts;
    this.#statements = prepare(db);
  }

  insert(judge: Judge, task: TaskDraft | null): Judge {
    return transact(this.#db, () => {
      const stored = task === null ? judge : { ...judge, task_slug: this.#makeTask(judge.project_id, task) };
      this.#statements.insert.run(toRow(stored));
      return stored;
    });
  }

  #makeTask(projectId: string, { slugs, version }: TaskDraft): string {
    for (const slug of slugs) {
      if (this.#prompts.hasPrompt(projectId, slug)) continue;
      this.#prompts.ensureVersion(projectId, slug, version);
      return slug;
    }
    throw new Error('No free slug for a new task');
  }

  find(projectId: string, id: string): Judge | undefined {
    const row = guarded(() => this.#statements.find.get(projectId, id));
    return row && toJudge(row);
  }

  count(projectId: string): number {
    return guarded(() => this.#statements.count.get(projectId) ?? 0);
  }

  list(projectId: string, window: Window): Judge[] {
    return guarded(() => this.#statements.list.all({ projectId, ...window })).map(toJudge);
  }

  enabled(): Judge[] {
    return guarded(() => this.#statements.enabled.all()).map(toJudge);
  }

  update(judge: Changed, cancelAutomatic: boolean, dueBy: Micros | null): boolean {
    return transact(this.#db, () => {
      const { changes } = this.#statements.update.run(toRow(judge));
      if (changes > 0 && cancelAutomatic) this.#statements.cancelAutomatic.run(judge.id);
      if (changes > 0 && dueBy !== null) this.#statements.hastenWaiting.run({ id: judge.id, dueBy });
      return changes > 0;
    });
  }

  remove(projectId: string, id: string, at: Micros): boolean {
    return transact(this.#db, () => {
      const { changes } = this.#statements.remove.run({ projectId, id, at });
      if (changes > 0) this.#statements.cancelAll.run(id);
      return changes > 0;
    });
  }
}
