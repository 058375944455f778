import type {
  CorrectionPlace,
  CountedPortion,
  EvaluationPlace,
  JudgeCountStore,
  JudgeQueue,
  NumberedVersion,
  SaidPortion,
  SameCorrections,
  StoredBetween,
} from '../judge-figures.js';
import type { Window } from '../../../engine/schema/page.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';

interface Portion {
  readonly judgeId: string;
  /** Place behind which it begins. */
  readonly at: number;
  readonly seq: number;
  readonly end: number;
  readonly most: number;
}

type OfJudge = CorrectionPlace & { readonly judgeId: string; readonly most: number };

type CountedRow = Pick<CountedPortion, 'evaluations' | 'passed'>;

type SameRow = Omit<SameCorrections, 'thumbs_up' | 'evaluation_result'> & {
  readonly thumbs_up: number;
  readonly evaluation_result: number;
};

/** Of the corrections that the judge was shown from, as `revisionOf` reads it from its exact version; 0: none. */
const REVISION = `CASE WHEN instr(e.judge_version, '/e') > 0
  THEN CAST(substr(e.judge_version, instr(e.judge_version, '/e') + 2) AS INTEGER) ELSE 0 END`;
const LAST = Number.MAX_SAFE_INTEGER;
/** A place before all corrections. */
const FIRST_SAID: CorrectionPlace = { span_id: '', revision: 0, number: 0 };
const saidBehind = (place: string) =>
  `SELECT * FROM (SELECT span_id, revision, rowid AS number FROM corrections INDEXED BY corrections_known
     WHERE judge_id = @judgeId AND evaluation_seq IS NOT NULL AND ${place} ORDER BY span_id, revision, rowid LIMIT @most)`;
/** Corrections behind a place. Very many of a span may be of one revision: a comparison of all three would begin at the first of it. */
const SAID = `${saidBehind('span_id = @span_id AND revision = @revision AND rowid > @number')}
  UNION ALL ${saidBehind('(span_id, revision) > (@span_id, @revision)')}`;

function prepare(db: Database) {
  const runs = (state: string) =>
    `(SELECT count(*) FROM judge_runs AS r WHERE r.judge_id = j.id AND r.state = '${state}')`;
  return {
    queues: db.prepare<Window & { projectId: string }, JudgeQueue>(
      `SELECT j.id AS judge_id, j.name AS judge_name, ${runs('queued')} AS queued, ${runs('failed')} AS failed
       FROM judges AS j WHERE j.project_id = @projectId AND j.deleted_at IS NULL
       ORDER BY j.created_at, j.rowid LIMIT @limit OFFSET @offset`,
    ),
    // Where times do not follow numbers, as of imported evaluations, the highest of each need not be of one row.
    last: db.prepare<Portion, EvaluationPlace>(
      `SELECT created_at, seq FROM evaluations INDEXED BY evaluations_by_judge
       WHERE judge_id = @judgeId AND (created_at, seq) > (@at, @seq) AND created_at <= @end
       ORDER BY created_at, seq LIMIT 1 OFFSET @most - 1`,
    ),
    count: db.prepare<Portion & { lastAt: number; lastSeq: number }, CountedRow>(
      `SELECT count(*) AS evaluations, coalesce(sum(evaluation_result), 0) AS passed
       FROM evaluations INDEXED BY evaluations_by_judge
       WHERE judge_id = @judgeId AND (created_at, seq) > (@at, @seq) AND (created_at, seq) <= (@lastAt, @lastSeq)`,
    ),
    versions: db.prepare<[string], NumberedVersion>(
      `SELECT v.judge_version, p.version AS prompt_version, v.began_at, v.evaluations, v.first_seq
       FROM judge_versions AS v LEFT JOIN prompt_versions AS p ON p.id = v.prompt_version_id
       WHERE v.judge_id = ? ORDER BY v.first_seq`,
    ),
    lastSaid: db.prepare<OfJudge, CorrectionPlace>(
      `${SAID} ORDER BY span_id, revision, number LIMIT 1 OFFSET @most - 1`,
    ),
    corrections: db.prepare<OfJudge & { from: number }, SameRow>(
      `SELECT c.thumbs_up, c.expected_score, c.score_direction, e.evaluation_result, e.pass_threshold, e.judge_version,
         count(*) AS times
       FROM (${SAID} ORDER BY span_id, revision, number LIMIT @most) AS p CROSS JOIN corrections AS c ON c.rowid = p.number
         CROSS JOIN evaluations AS e ON e.seq = c.evaluation_seq
       WHERE c.evaluation_seq >= @from
         AND NOT EXISTS (
         SELECT 1 FROM corrections AS k INDEXED BY corrections_known WHERE k.judge_id = c.judge_id AND k.span_id = c.span_id
           AND k.evaluation_seq IS NOT NULL AND k.revision <= ${REVISION})
       GROUP BY c.thumbs_up, c.expected_score, c.score_direction, e.evaluation_result, e.pass_threshold, e.judge_version`,
    ),
  };
}

/** Counts of evaluations and runs by judge, from indexes alone. */
export class SqliteJudgeCounts implements JudgeCountStore {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  versions(judgeId: string): readonly NumberedVersion[] {
    return guarded(() => this.#statements.versions.all(judgeId));
  }

  corrections(judgeId: string, from: number, after: CorrectionPlace | null, most: number): SaidPortion {
    const of = { judgeId, ...(after ?? FIRST_SAID), most };
    const last = guarded(() => this.#statements.lastSaid.get(of) ?? null);
    const rows = guarded(() => this.#statements.corrections.all({ ...of, from }));
    const said = rows.map((row) => ({
      ...row,
      thumbs_up: row.thumbs_up === 1,
      evaluation_result: row.evaluation_result === 1,
    }));
    return { said, last };
  }

  queues(projectId: string, window: Window): readonly JudgeQueue[] {
    return guarded(() => this.#statements.queues.all({ projectId, ...window }));
  }

  count(judgeId: string, { start, end }: StoredBetween, after: EvaluationPlace | null, most: number): CountedPortion {
    const { created_at: at, seq } = after ?? { created_at: start ?? 0, seq: 0 };
    const portion = { judgeId, at, seq, end: end ?? LAST, most };
    return guarded(() => {
      const last = this.#statements.last.get(portion) ?? null;
      const to = last ?? { created_at: portion.end, seq: LAST };
      const row = this.#statements.count.get({ ...portion, lastAt: to.created_at, lastSeq: to.seq });
      return { ...(row ?? { evaluations: 0, passed: 0 }), last };
    });
  }
}
