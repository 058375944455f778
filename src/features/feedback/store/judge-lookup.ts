import type { FeedbackJudge, JudgeLookup } from '../judge-lookup.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';

type Row = Omit<FeedbackJudge, 'criteria'> & { readonly criteria: string };

function prepare(db: Database) {
  return db.prepare<[string, string], Row>(
    `SELECT id, task_slug, evaluation_type, score_min, score_max, criteria FROM judges
     WHERE project_id = ? AND id = ? AND deleted_at IS NULL`,
  );
}

/** Judges as feedback needs to know them, from the SQLite file. */
export class SqliteJudgeLookup implements JudgeLookup {
  readonly #find: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#find = prepare(db);
  }

  find(projectId: string, judgeId: string): FeedbackJudge | undefined {
    const row = guarded(() => this.#find.get(projectId, judgeId));
    return row === undefined ? undefined : { ...row, criteria: JSON.parse(row.criteria) as FeedbackJudge['criteria'] };
  }
}
