import type { Micros } from '../../engine/timestamp.js';
import type { JudgeFilters } from '../../engine/traces/model/judged/filters.js';

export type EvaluationType = 'binary' | 'scored';

/** One criterion that a scored judge scores spans by. */
export interface Criterion {
  /** Key, unique within the judge. */
  readonly key: string;
  readonly label: string;
  readonly description: string;
}

/** The range of scores and what passes; all null for a binary judge. */
export interface ScoreScale {
  readonly score_min: number | null;
  readonly score_max: number | null;
  readonly pass_threshold: number | null;
}

/** Settings of a judge: the fields that a client may set. */
export interface JudgeSettings extends ScoreScale {
  readonly name: string;
  /** Slug of the prompt that holds the instruction. */
  readonly task_slug: string;
  readonly evaluation_type: EvaluationType;
  readonly criteria: readonly Criterion[];
  /** Model; null: the one bound to the version of the prompt, else the configured one. */
  readonly model: string | null;
  /** Temperature; null: the model's own default. */
  readonly temperature: number | null;
  /** Share of the matching spans that the judge evaluates by itself, 0 to 1. */
  readonly sample_rate: number;
  readonly filters: JudgeFilters;
  /** Whether the judge evaluates new spans by itself. */
  readonly enabled: boolean;
}

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
  /** `key_refused` may be over: the next call finds out. */
  readonly kind: 'no_endpoint' | 'no_prompt' | 'no_model' | 'key_refused';
  readonly text: string;
}

/** A judge, and why it cannot run now; null when it can. */
export interface CheckedJudge extends Judge {
  readonly not_runnable_reason: NotRunnableReason | null;
}
