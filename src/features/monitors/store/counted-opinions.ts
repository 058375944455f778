import { guarded, type Database } from '../../../engine/metadata/database.js';
import type { CountedOpinions, SlotCounts, Slots } from '../monitor.js';

interface Asked extends Omit<Slots, 'count'> {
  readonly of: string;
  readonly end: number;
}

type SlotRow = SlotCounts & { readonly slot: number };

function prepare(db: Database) {
  return {
    verdicts: db.prepare<Asked, SlotRow>(
      `SELECT CAST((created_at - @after - 1) / @length AS INTEGER) AS slot, count(*) AS count, coalesce(sum(evaluation_result), 0) AS yes
       FROM evaluations INDEXED BY evaluations_by_judge
       WHERE judge_id = @of AND created_at > @after AND created_at <= @end GROUP BY slot`,
    ),
    feedback: db.prepare<Asked, SlotRow>(
      `SELECT CAST((updated_at - @after - 1) / @length AS INTEGER) AS slot, count(*) AS count, sum(thumbs_up) AS yes
       FROM feedback INDEXED BY feedback_by_time
       WHERE project_id = @of AND judge_id IS NULL AND updated_at > @after AND updated_at <= @end GROUP BY slot`,
    ),
    judge: db
      .prepare<[string, string], 1>('SELECT 1 FROM judges WHERE project_id = ? AND id = ? AND deleted_at IS NULL')
      .pluck(),
  };
}

/** Evaluations and feedback by time, from indexes alone. */
export class SqliteCountedOpinions implements CountedOpinions {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  verdicts(judgeId: string, slots: Slots): Map<number, SlotCounts> {
    return bySlot(guarded(() => this.#statements.verdicts.all(asked(judgeId, slots))));
  }

  feedback(projectId: string, slots: Slots): Map<number, SlotCounts> {
    return bySlot(guarded(() => this.#statements.feedback.all(asked(projectId, slots))));
  }

  hasJudge(projectId: string, judgeId: string): boolean {
    return guarded(() => this.#statements.judge.get(projectId, judgeId)) !== undefined;
  }
}

function asked(of: string, { after, length, count }: Slots): Asked {
  return { of, after, length, end: after + length * count };
}

function bySlot(rows: readonly SlotRow[]): Map<number, SlotCounts> {
  return new Map(rows.map(({ slot, count, yes }) => [slot, { count, yes }]));
}
