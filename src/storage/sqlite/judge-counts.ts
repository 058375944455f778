import type {
  CountedPortion,
  EvaluationPlace,
  JudgeCountStore,
  JudgeQueue,
  SameCorrections,
  StoredBetween,
} from '../../domain/judge-figures/judge-figures.js';
import type { Window } from '../../domain/schema/page.js';
import { guarded, type Database } from './database.js';

interface Portion {
  readonly judgeId: string;
  /** Place behind which it begins. */
  readonly at: number;
  readonly seq: number;
  readonly end: number;
  readonly most: number;
}

type CountedRow = Omit<CountedPortion, 'last'> & { readonly [Of in keyof EvaluationPlace]: number | null };

type SameRow = Omit<SameCorrections, 'thumbs_up' | 'evaluation_result'> & {
  readonly thumbs_up: number;
  readonly evaluation_result: number;
};

function prepare(db: Database) {
  const runs = (state: string) =>
    `(SELECT count(*) FROM judge_runs AS r WHERE r.judge_id = j.id AND r.state = '${state}')`;
  return {
    queues: db.prepare<Window & { projectId: string }, JudgeQueue>(
      `SELECT j.id AS judge_id, j.name AS judge_name, ${runs('queued')} AS queued, ${runs('failed')} AS failed
       FROM judges AS j WHERE j.project_id = @projectId AND j.deleted_at IS NULL
       ORDER BY j.created_at, j.rowid LIMIT @limit OFFSET @offset`,
    ),
    count: db.prepare<Portion, CountedRow>(
      `SELECT count(*) AS evaluations, coalesce(sum(evaluation_result), 0) AS passed, max(created_at) AS created_at, max(seq) AS seq
       FROM (SELECT evaluation_result, created_at, seq FROM evaluations INDEXED BY evaluations_by_judge
         WHERE judge_id = @judgeId AND (created_at, seq) > (@at, @seq) AND created_at <= @end
         ORDER BY created_at, seq LIMIT @most)`,
    ),
    corrections: db.prepare<[string], SameRow>(
      `SELECT c.judge_id, c.thumbs_up, c.expected_score, c.score_direction, e.evaluation_result, e.pass_threshold,
         count(*) AS times
       FROM json_each(?) AS j CROSS JOIN corrections AS c ON c.judge_id = j.value
       JOIN evaluations AS e ON e.seq = c.evaluation_seq
       GROUP BY c.judge_id, c.thumbs_up, c.expected_score, c.score_direction, e.evaluation_result, e.pass_threshold`,
    ),
  };
}

/** Counts of evaluations and runs by judge, from indexes alone. */
export class SqliteJudgeCounts implements JudgeCountStore {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  corrections(judgeIds: readonly string[]): readonly SameCorrections[] {
    const rows = guarded(() => this.#statements.corrections.all(JSON.stringify(judgeIds)));
    return rows.map((row) => ({
      ...row,
      thumbs_up: row.thumbs_up === 1,
      evaluation_result: row.evaluation_result === 1,
    }));
  }

  queues(projectId: string, window: Window): readonly JudgeQueue[] {
    return guarded(() => this.#statements.queues.all({ projectId, ...window }));
  }

  count(judgeId: string, { start, end }: StoredBetween, after: EvaluationPlace | null, most: number): CountedPortion {
    const { created_at: at, seq } = after ?? { created_at: start ?? 0, seq: 0 };
    const row = guarded(() =>
      this.#statements.count.get({ judgeId, at, seq, end: end ?? Number.MAX_SAFE_INTEGER, most }),
    );
    if (row?.created_at == null || row.seq === null) return { evaluations: 0, passed: 0, last: null };
    const { evaluations, passed, created_at } = row;
    return { evaluations, passed, last: { created_at, seq: row.seq } };
  }
}
