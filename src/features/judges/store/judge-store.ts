import type { Judge, JudgeSettings } from '../judge.js';
import type { JudgeStore, TaskDraft } from '../judge-store.js';
import type { Window } from '../../../engine/schema/page.js';
import type { PromptStore } from '../../prompts/prompt-store.js';
import type { Micros } from '../../../engine/timestamp.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';

type Row = Omit<Judge, 'criteria' | 'filters' | 'enabled'> & {
  readonly criteria: string;
  readonly filters: string;
  readonly enabled: number;
};
type Changed = Pick<Judge, 'id' | 'project_id' | 'judged_since' | 'updated_at'> & JudgeSettings;

const SETTINGS = [
  'name',
  'task_slug',
  'evaluation_type',
  'score_min',
  'score_max',
  'pass_threshold',
  'criteria',
  'model',
  'temperature',
  'sample_rate',
  'filters',
  'enabled',
  'judged_since',
  'updated_at',
];
const COLUMNS = ['id', 'project_id', ...SETTINGS, 'created_at', 'created_by', 'deleted_at'];
const ALL = COLUMNS.join(', ');

function prepare(db: Database) {
  return {
    insert: db.prepare<Row>(`INSERT INTO judges (${ALL}) VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')})`),
    find: db.prepare<[string, string], Row>(`SELECT ${ALL} FROM judges WHERE project_id = ? AND id = ?`),
    list: db.prepare<Window & { projectId: string }, Row>(
      `SELECT ${ALL} FROM judges WHERE project_id = @projectId AND deleted_at IS NULL
       ORDER BY created_at, rowid LIMIT @limit OFFSET @offset`,
    ),
    count: db
      .prepare<[string], number>('SELECT count(*) FROM judges WHERE project_id = ? AND deleted_at IS NULL')
      .pluck(),
    enabled: db.prepare<[], Row>(
      `SELECT ${ALL} FROM judges WHERE enabled = 1 AND deleted_at IS NULL ORDER BY created_at, rowid`,
    ),
    update: db.prepare<Omit<Row, 'created_at' | 'created_by' | 'deleted_at'>>(
      `UPDATE judges SET ${SETTINGS.map((name) => `${name} = @${name}`).join(', ')}
       WHERE project_id = @project_id AND id = @id AND deleted_at IS NULL`,
    ),
    remove: db.prepare<{ projectId: string; id: string; at: Micros }>(
      `UPDATE judges SET deleted_at = @at, enabled = 0
       WHERE project_id = @projectId AND id = @id AND deleted_at IS NULL`,
    ),
    cancelAutomatic: db.prepare<[string]>(
      `DELETE FROM judge_runs WHERE judge_id = ? AND state = 'queued' AND origin = 'automatic'`,
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
    const insert = () => {
      const stored = task === null ? judge : { ...judge, task_slug: this.#makeTask(judge.project_id, task) };
      this.#statements.insert.run(toRow(stored));
      return stored;
    };
    return guarded(() => this.#db.transaction(insert).immediate());
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
    return guarded(() => parsed(this.#statements.find.get(projectId, id)));
  }

  count(projectId: string): number {
    return guarded(() => this.#statements.count.get(projectId) ?? 0);
  }

  list(projectId: string, window: Window): Judge[] {
    return guarded(() => this.#statements.list.all({ projectId, ...window })).flatMap((row) => parsed(row) ?? []);
  }

  enabled(): Judge[] {
    return guarded(() => this.#statements.enabled.all()).flatMap((row) => parsed(row) ?? []);
  }

  update(judge: Changed, cancelAutomatic: boolean): boolean {
    const update = () => {
      const { changes } = this.#statements.update.run(toRow(judge));
      if (changes > 0 && cancelAutomatic) this.#statements.cancelAutomatic.run(judge.id);
      return changes > 0;
    };
    return guarded(() => this.#db.transaction(update).immediate());
  }

  remove(projectId: string, id: string, at: Micros): boolean {
    const remove = () => {
      const { changes } = this.#statements.remove.run({ projectId, id, at });
      if (changes > 0) this.#statements.cancelAll.run(id);
      return changes > 0;
    };
    return guarded(() => this.#db.transaction(remove).immediate());
  }
}

function toRow<T extends Changed>(judge: T) {
  return {
    ...judge,
    criteria: JSON.stringify(judge.criteria),
    filters: JSON.stringify(judge.filters),
    enabled: judge.enabled ? 1 : 0,
  };
}

function parsed(row: Row | undefined): Judge | undefined {
  if (row === undefined) return undefined;
  return {
    ...row,
    criteria: JSON.parse(row.criteria) as Judge['criteria'],
    filters: JSON.parse(row.filters) as Judge['filters'],
    enabled: row.enabled === 1,
  };
}
