import type { NamedEvaluation } from '../judges/evaluation.js';
import type { StoredFeedback } from './feedback.js';

/** Who gave feedback. */
export interface Author {
  readonly id: string;
  /** Null for a reviewer without an account. */
  readonly email: string | null;
  readonly name: string;
}

export interface HumanItem {
  readonly kind: 'human_feedback';
  /** Without its metadata, which may be large and is not listed. */
  readonly feedback: Omit<StoredFeedback, 'metadata'>;
  readonly author: Author;
}

export interface EvaluationItem {
  readonly kind: 'judge_evaluation';
  readonly evaluation: NamedEvaluation;
}

/** Feedback of a person or evaluation by a judge. */
export type UnifiedItem = HumanItem | EvaluationItem;
