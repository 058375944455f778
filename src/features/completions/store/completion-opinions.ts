import type { CompletionOpinions, JudgeVerdict, Thumbs } from '../completion-opinions.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';

type ThumbsRow = Thumbs & { readonly id: string };
type VerdictRow = Omit<JudgeVerdict, 'evaluation_result'> & { readonly id: string; readonly result: number };

function prepare(db: Database) {
  const verdicts = (condition: string) =>
    db.prepare<{ projectId: string; judgeId: string | null; ids: string }, VerdictRow>(
      // Of the rows of a group, max() names the one that the other columns are of.
      `SELECT e.span_id AS id, e.judge_id, j.name AS judge_name, e.id AS evaluation_id, e.evaluation_result AS result,
         e.score, max(e.seq)
       FROM json_each(@ids) AS s CROSS JOIN evaluations AS e INDEXED BY evaluations_by_span
         ON e.project_id = @projectId AND e.span_id = s.value
       JOIN judges AS j ON j.id = e.judge_id
       WHERE ${condition} GROUP BY e.span_id, e.judge_id ORDER BY j.created_at, j.id`,
    );
  return {
    thumbs: db.prepare<{ projectId: string; promptId: string; ids: string }, ThumbsRow>(
      `SELECT f.completion_id AS id, sum(f.thumbs_up) AS up, sum(1 - f.thumbs_up) AS down
       FROM json_each(@ids) AS s CROSS JOIN feedback AS f INDEXED BY feedback_by_completion
         ON f.project_id = @projectId AND f.completion_id = s.value
       WHERE f.prompt_id = @promptId AND f.judge_id IS NULL GROUP BY f.completion_id`,
    ),
    ofAll: verdicts('true'),
    ofJudge: verdicts('e.judge_id = @judgeId'),
  };
}

/** What was said of completions, from the SQLite file. */
export class SqliteCompletionOpinions implements CompletionOpinions {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  thumbs(projectId: string, promptId: string, ids: readonly string[]): Map<string, Thumbs> {
    const rows = guarded(() => this.#statements.thumbs.all({ projectId, promptId, ids: JSON.stringify(ids) }));
    return new Map(rows.map(({ id, ...thumbs }) => [id, thumbs]));
  }

  verdicts(projectId: string, judgeId: string | null, ids: readonly string[]): Map<string, JudgeVerdict[]> {
    const statement = judgeId === null ? this.#statements.ofAll : this.#statements.ofJudge;
    const found = new Map<string, JudgeVerdict[]>();
    for (const row of guarded(() => statement.all({ projectId, judgeId, ids: JSON.stringify(ids) }))) {
      const { id, judge_id, judge_name, evaluation_id, score, result } = row;
      const verdict = { judge_id, judge_name, evaluation_id, evaluation_result: result === 1, score };
      const others = found.get(id);
      if (others === undefined) found.set(id, [verdict]);
      else others.push(verdict);
    }
    return found;
  }
}
