import type { Micros } from '../../engine/timestamp.js';

export type ScoreDirection = 'too_high' | 'too_low';

/** Feedback on one criterion of a scored evaluation. At least one of the two is not null. */
export interface CriterionFeedback {
  readonly expected_score: number | null;
  readonly reason: string | null;
}

/** Feedback of a user on a completion, or with `judge_id` on that judge's evaluation of it. */
export interface FeedbackContent {
  readonly thumbs_up: boolean;
  readonly reason: string | null;
  readonly expected_output: string | null;
  readonly expected_score: number | null;
  readonly score_direction: ScoreDirection | null;
  /** Feedback by criterion key; null when there is none. */
  readonly criteria_feedback: Readonly<Record<string, CriterionFeedback>> | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Key of feedback, by giver and subject: there is one record for each. */
export interface FeedbackKey {
  readonly project_id: string;
  /** Id of the span, lower-case UUID. */
  readonly completion_id: string;
  readonly user_id: string;
  readonly judge_id: string | null;
}

export interface FeedbackDraft extends FeedbackKey, FeedbackContent {
  /** Null: its span names none, or none is known; a prompt of earlier feedback stays. */
  readonly prompt_id: string | null;
  readonly at: Micros;
}

export interface StoredFeedback extends FeedbackKey, FeedbackContent {
  /** Lower-case UUID; stays the same when the feedback is changed. */
  readonly id: string;
  /** Null: its span named none. */
  readonly prompt_id: string | null;
  /** When it was first given. */
  readonly created_at: Micros;
  /** When it was last given. */
  readonly updated_at: Micros;
}
