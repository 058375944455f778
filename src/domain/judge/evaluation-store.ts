import type { Micros } from '../time/timestamp.js';
import type { Evaluation, NamedEvaluation } from './evaluation.js';
import type { Window } from '../schema/page.js';

export interface EvaluationFilter {
  /** Inclusive. */
  readonly start: Micros | null;
  /** Inclusive. */
  readonly end: Micros | null;
  readonly result: boolean | null;
  /** True: with feedback of a person on this judge's evaluation of the span. */
  readonly withFeedback: boolean | null;
}

export interface EvaluationPage {
  readonly evaluations: readonly Evaluation[];
  readonly total: number;
}

/** Where evaluations are kept. Guarantees as of JudgeStore. */
export interface EvaluationStore {
  /** Stores one; its `created_at` is moved on when the clock went back, so that time and order of storing agree. */
  insert(evaluation: Evaluation): Evaluation;
  /** In the order in which they were stored, or backwards. Total and page are of one moment. */
  ofJudge(judgeId: string, filter: EvaluationFilter, window: Window, descending: boolean): EvaluationPage;
  /** Newest first. */
  ofSpan(projectId: string, spanId: string): NamedEvaluation[];
  /** The newest of a judge and span. */
  latest(judgeId: string, spanId: string): Evaluation | undefined;
}
