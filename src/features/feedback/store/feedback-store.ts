import { v7 as uuidv7 } from 'uuid';
import type { FeedbackDraft, StoredFeedback } from '../feedback.js';
import type { FeedbackStore } from '../feedback-store.js';
import { correctionWriter } from './correction-rows.js';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';
import type { FeedbackRow } from './feedback-row.js';

export const FEEDBACK_COLUMNS = `id, project_id, prompt_id, completion_id, user_id, judge_id, thumbs_up, reason,
  expected_output, metadata, expected_score, score_direction, criteria_feedback, created_at, updated_at`;

interface SavedRow extends Omit<FeedbackRow, 'created_at' | 'updated_at'> {
  readonly at: number;
}

function prepare(db: Database) {
  return {
    save: db.prepare<SavedRow, FeedbackRow>(
      `INSERT INTO feedback (${FEEDBACK_COLUMNS}, after_deletion)
       VALUES (@id, @project_id, @prompt_id, @completion_id, @user_id, @judge_id, @thumbs_up, @reason, @expected_output,
         @metadata, @expected_score, @score_direction, @criteria_feedback, @at, @at,
         ${LAST_DELETION})
       ON CONFLICT (project_id, completion_id, user_id, coalesce(judge_id, '')) DO UPDATE SET
         prompt_id = coalesce(excluded.prompt_id, prompt_id), thumbs_up = excluded.thumbs_up, reason = excluded.reason,
         expected_output = excluded.expected_output, metadata = excluded.metadata,
         expected_score = excluded.expected_score, score_direction = excluded.score_direction,
         criteria_feedback = excluded.criteria_feedback, updated_at = max(updated_at, excluded.updated_at),
         after_deletion = excluded.after_deletion
       RETURNING ${FEEDBACK_COLUMNS}`,
    ),
    ofPrompt: db.prepare<[string, number], FeedbackRow>(
      `SELECT ${FEEDBACK_COLUMNS} FROM feedback
       WHERE prompt_id = ? AND judge_id IS NULL ORDER BY updated_at DESC, id DESC LIMIT ?`,
    ),
    ofUser: db.prepare<[string, string, string], FeedbackRow>(
      `SELECT ${FEEDBACK_COLUMNS} FROM feedback
       WHERE project_id = ? AND completion_id IN (SELECT value FROM json_each(?)) AND user_id = ? AND judge_id IS NULL`,
    ),
    liked: db.prepare<[string, string], { place: number; liked: number }>(
      `SELECT i.key AS place, avg(f.thumbs_up) AS liked
       FROM json_each(?) AS i CROSS JOIN feedback AS f INDEXED BY feedback_by_completion
         ON f.project_id = ? AND f.completion_id = i.value
       WHERE f.judge_id IS NULL GROUP BY i.key`,
    ),
  };
}

/** Feedback in the SQLite file. */
export class SqliteFeedbackStore implements FeedbackStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #writeCorrection: ReturnType<typeof correctionWriter>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
    this.#writeCorrection = correctionWriter(db);
  }

  save(draft: FeedbackDraft): StoredFeedback {
    return toFeedback(transact(this.#db, () => this.#save(draft)));
  }

  #save({ thumbs_up, metadata, criteria_feedback, ...draft }: FeedbackDraft): FeedbackRow {
    const row = this.#statements.save.get({
      ...draft,
      // Grows, so that feedback of one millisecond is listed in its order.
      id: uuidv7(),
      thumbs_up: thumbs_up ? 1 : 0,
      metadata: JSON.stringify(metadata),
      criteria_feedback: criteria_feedback === null ? null : JSON.stringify(criteria_feedback),
    });
    if (row === undefined) throw new Error('An upsert returned nothing');
    const { judge_id } = row;
    if (judge_id !== null) this.#writeCorrection({ ...row, judge_id });
    return row;
  }

  ofPrompt(promptId: string, limit: number): StoredFeedback[] {
    return guarded(() => this.#statements.ofPrompt.all(promptId, limit)).map(toFeedback);
  }

  ofUser(projectId: string, userId: string, completionIds: readonly string[]): StoredFeedback[] {
    const ids = JSON.stringify(completionIds);
    return guarded(() => this.#statements.ofUser.all(projectId, ids, userId)).map(toFeedback);
  }

  liked(projectId: string, spanIds: readonly string[]): (number | null)[] {
    const rows = guarded(() => this.#statements.liked.all(JSON.stringify(spanIds), projectId));
    const found = new Map(rows.map(({ place, liked }) => [place, liked]));
    return spanIds.map((_id, place) => found.get(place) ?? null);
  }
}

export function toFeedback(row: FeedbackRow): StoredFeedback {
  return {
    ...row,
    thumbs_up: row.thumbs_up === 1,
    metadata: JSON.parse(row.metadata) as StoredFeedback['metadata'],
    criteria_feedback: toCriteriaFeedback(row),
  };
}

export function toCriteriaFeedback({ criteria_feedback: json }: FeedbackRow): StoredFeedback['criteria_feedback'] {
  return json === null ? null : (JSON.parse(json) as StoredFeedback['criteria_feedback']);
}
