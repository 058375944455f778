import type { Micros } from '../../engine/timestamp.js';
import type { JudgeSettings } from './settings.js';

export type { JudgeSettings };

export type EvaluationType = JudgeSettings['evaluation_type'];

/** One criterion that a scored judge scores spans by. */
export type Criterion = JudgeSettings['criteria'][number];

/** The range of scores and what passes; all null for a binary judge. */
export type ScoreScale = Pick<JudgeSettings, 'score_min' | 'score_max' | 'pass_threshold'>;

export interface Judge extends JudgeSettings {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  /** When the judge was last enabled: spans that arrived up to then it does not evaluate by itself. */
  readonly judged_since: Micros;
  readonly created_at: Micros;
  readonly created_by: string;
  readonly updated_at: Micros;
  /** When the judge was deleted, null: not. Of a deleted one, only evaluations and criteria can be read. */
  readonly deleted_at: Micros | null;
}

/** Why a judge cannot run: the kind for decisions, the text for people. */
export interface NotRunnableReason {
  /** `key_refused` may be over: the next call finds out. With `budget_spent`, evaluations wait. */
  readonly kind: 'no_endpoint' | 'no_prompt' | 'no_model' | 'key_refused' | 'budget_spent';
  readonly text: string;
}

/** A judge, and why it cannot run now; null when it can. */
export interface CheckedJudge extends Judge {
  readonly not_runnable_reason: NotRunnableReason | null;
}
