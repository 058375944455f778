import type { Micros } from '../time/timestamp.js';
import type { Evaluation, NamedEvaluation } from './evaluation.js';
import type { Window } from '../schema/page.js';

export interface EvaluationFilter {
  /** Earliest time of storing, inclusive. */
  readonly start: Micros | null;
  /** Latest time of storing, inclusive. */
  readonly end: Micros | null;
  readonly result: boolean | null;
  /** Whether a person gave feedback on this judge's evaluation of the span; null: either. */
  readonly withFeedback: boolean | null;
}

export interface EvaluationPage {
  readonly evaluations: readonly Evaluation[];
  readonly total: number;
}

/** Where evaluations are kept. Guarantees as of JudgeStore. */
export interface EvaluationStore {
  /** Stores an evaluation; moves `created_at` on when the clock went back, so that times keep the order of storing. */
  insert(evaluation: Evaluation): Evaluation;
  /** Evaluations in the order of storing, or backwards. Total and page are of one moment. */
  ofJudge(judgeId: string, filter: EvaluationFilter, window: Window, descending: boolean): EvaluationPage;
  /** Evaluations of a span, newest first. */
  ofSpan(projectId: string, spanId: string): NamedEvaluation[];
  /** The newest evaluation of a span by a judge. */
  latest(judgeId: string, spanId: string): Evaluation | undefined;
}
