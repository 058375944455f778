import type { Correction, CorrectionStore, ExampleCorrection, JudgedResult, UsedVersion } from '../correction.js';
import type { Micros } from '../../../engine/timestamp.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';

type Stored<T> = Omit<T, 'thumbs_up' | 'evaluation'> & { readonly thumbs_up: number };
/** The columns of the evaluation that a correction is of; all null where there is none. */
type JudgedRow = { readonly [K in keyof JudgedResult]: JudgedResult[K] | null } & { readonly result: number | null };
type CorrectionRow = Stored<Correction> & JudgedRow;
type ExampleRow = Omit<Stored<ExampleCorrection>, 'criteria_feedback'> &
  JudgedRow & { readonly evaluation_reason: string; readonly criteria_feedback: string | null };

const OPINION = 'c.span_id, c.thumbs_up, c.expected_score, c.score_direction, c.given_at';
/** Of the span, by whatever evaluation it is known. */
const ROW_KEY = `(SELECT row_key FROM evaluations AS r INDEXED BY evaluations_of_rows
  WHERE r.project_id = e.project_id AND r.span_id = e.span_id AND r.row_key IS NOT NULL LIMIT 1) AS row_key`;
const JUDGED = 'e.evaluation_result AS result, e.score, e.score_min, e.score_max, e.pass_threshold, e.judge_version';

function prepare(db: Database) {
  return {
    revision: db.prepare<[string], number>('SELECT revision FROM correction_sets WHERE judge_id = ?').pluck(),
    lastRemoval: db.prepare<[string], number>('SELECT last_removal FROM correction_sets WHERE judge_id = ?').pluck(),
    between: db.prepare<{ judgeId: string; start: Micros; end: Micros }, CorrectionRow>(
      `SELECT ${OPINION}, c.user_id, ${JUDGED}, ${ROW_KEY},
         (SELECT min(k.revision) FROM corrections AS k INDEXED BY corrections_known
          WHERE k.judge_id = c.judge_id AND k.span_id = c.span_id AND k.evaluation_seq IS NOT NULL) AS known_since
       FROM corrections AS c LEFT JOIN evaluations AS e ON e.seq = c.evaluation_seq
       WHERE c.judge_id = @judgeId AND c.given_at BETWEEN @start AND @end
       ORDER BY c.given_at, c.revision, c.feedback_id`,
    ),
    examples: db.prepare<{ judgeId: string; after: number; limit: number }, ExampleRow>(
      `SELECT ${OPINION}, c.revision, c.reason, c.expected_output, c.criteria_feedback, ${JUDGED}, ${ROW_KEY}, e.evaluation_reason
       FROM corrections AS c JOIN evaluations AS e ON e.seq = c.evaluation_seq
       WHERE c.judge_id = @judgeId AND c.revision > @after ORDER BY c.revision DESC LIMIT @limit`,
    ),
    versions: db.prepare<[string], UsedVersion>(
      `SELECT v.judge_version, p.version AS prompt_version, v.began_at, v.evaluations
       FROM judge_versions AS v LEFT JOIN prompt_versions AS p ON p.id = v.prompt_version_id
       WHERE v.judge_id = ? ORDER BY v.first_seq`,
    ),
  };
}

/** Corrections of evaluations, in the SQLite file; `correction-rows.ts` writes them. */
export class SqliteCorrectionStore implements CorrectionStore {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  revision(judgeId: string): number {
    return guarded(() => this.#statements.revision.get(judgeId) ?? 0);
  }

  lastRemoval(judgeId: string): number {
    return guarded(() => this.#statements.lastRemoval.get(judgeId) ?? 0);
  }

  between(judgeId: string, start: Micros, end: Micros): Correction[] {
    return guarded(() => this.#statements.between.all({ judgeId, start, end })).map((row) => ({
      span_id: row.span_id,
      row_key: row.row_key ?? null,
      user_id: row.user_id,
      given_at: row.given_at,
      known_since: row.known_since,
      thumbs_up: row.thumbs_up === 1,
      expected_score: row.expected_score,
      score_direction: row.score_direction,
      evaluation: row.result === null ? null : toJudged(row),
    }));
  }

  examples(judgeId: string, afterRevision: number, limit: number): ExampleCorrection[] {
    return guarded(() => this.#statements.examples.all({ judgeId, after: afterRevision, limit })).map((row) => ({
      span_id: row.span_id,
      row_key: row.row_key ?? null,
      revision: row.revision,
      given_at: row.given_at,
      thumbs_up: row.thumbs_up === 1,
      expected_score: row.expected_score,
      score_direction: row.score_direction,
      reason: row.reason,
      expected_output: row.expected_output,
      criteria_feedback:
        row.criteria_feedback === null
          ? null
          : (JSON.parse(row.criteria_feedback) as ExampleCorrection['criteria_feedback']),
      evaluation: { ...toJudged(row), evaluation_reason: row.evaluation_reason },
    }));
  }

  versions(judgeId: string): UsedVersion[] {
    return guarded(() => this.#statements.versions.all(judgeId));
  }
}

function toJudged({ result, score, score_min, score_max, pass_threshold, judge_version }: JudgedRow): JudgedResult {
  return { evaluation_result: result === 1, score, score_min, score_max, pass_threshold, judge_version };
}
