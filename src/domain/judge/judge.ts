import type { Micros } from '../time/timestamp.js';

export type EvaluationType = 'binary' | 'scored';

/** One thing that a judge looks at. */
export interface Criterion {
  /** Unique within its judge. */
  readonly key: string;
  readonly label: string;
  readonly description: string;
}

/** No filter asks for a name or a tag with a longer value; in characters. */
export const LONGEST_FILTER_VALUE = 1_000;

/** Which spans a judge is about. What is empty does not restrict; the others must all match. */
export interface JudgeFilters {
  /** Any of these. */
  readonly kinds: readonly string[];
  /** Any of these. */
  readonly names: readonly string[];
  /** All of these. */
  readonly tags: Readonly<Record<string, string>>;
  /** Slug of the prompt that the span is a completion of. */
  readonly prompt_slug: string | null;
}

/** The range of scores and what passes; all null for a binary judge. */
export interface ScoreScale {
  readonly score_min: number | null;
  readonly score_max: number | null;
  readonly pass_threshold: number | null;
}

/** What a client may set of a judge. */
export interface JudgeSettings extends ScoreScale {
  readonly name: string;
  /** Slug of the prompt that holds its instruction. */
  readonly task_slug: string;
  readonly evaluation_type: EvaluationType;
  readonly criteria: readonly Criterion[];
  /** Null: the model bound to the version of its prompt, else the configured one. */
  readonly model: string | null;
  /** Null: the model's own default. */
  readonly temperature: number | null;
  /** Share of the matching spans that it evaluates by itself, 0 to 1. */
  readonly sample_rate: number;
  readonly filters: JudgeFilters;
  /** Whether it evaluates new spans by itself. */
  readonly enabled: boolean;
}

export interface Judge extends JudgeSettings {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  /** Spans that arrived up to here it does not evaluate by itself: when it was last enabled. */
  readonly judged_since: Micros;
  readonly created_at: Micros;
  readonly created_by: string;
  readonly updated_at: Micros;
  /** Null while it exists; then only its evaluations and criteria can be read. */
  readonly deleted_at: Micros | null;
}

/** Why a judge cannot run: the kind for decisions, the text for people. */
export interface NotRunnableReason {
  readonly kind: 'no_endpoint' | 'no_prompt' | 'no_model';
  readonly text: string;
}

/** A judge, and why it cannot run now; null when it can. */
export interface CheckedJudge extends Judge {
  readonly not_runnable_reason: NotRunnableReason | null;
}

/** The tag by which the stored calls of judges are known; its value is the id of the judge. They are never judged. */
export const JUDGE_TAG = 'spanhouse.judge';
