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
  readonly agreement: Agreement | null;
  /** Exact versions of the judge, see `judgeVersion`; `external`: none, as the evaluation ran elsewhere and does not say; null: any. */
  readonly versions: readonly string[] | 'external' | null;
}

/**
 * What people said of an evaluation. `disagreed`: somebody that it is wrong; `agreed`: only that it is right; `unreviewed`:
 * nobody said anything of it, or of a later evaluation of its span by the judge.
 */
export const AGREEMENTS = ['disagreed', 'agreed', 'unreviewed'] as const;
export type Agreement = (typeof AGREEMENTS)[number];

export const EVALUATION_SORTS = ['created_at', 'confidence'] as const;

/** The order of a list; ties are in the order of storing, and evaluations without a confidence come last either way. */
export interface EvaluationOrder {
  readonly by: (typeof EVALUATION_SORTS)[number];
  readonly descending: boolean;
}

export interface EvaluationPage {
  readonly evaluations: readonly Evaluation[];
  readonly total: number;
}

/** Where evaluations are kept. Guarantees as of JudgeStore. */
export interface EvaluationStore {
  /** Stores an evaluation; moves `created_at` on when the clock went back, so that times keep the order of storing. */
  insert(evaluation: Evaluation): Evaluation;
  /** Total and page are of one moment. */
  ofJudge(judgeId: string, filter: EvaluationFilter, window: Window, order: EvaluationOrder): EvaluationPage;
  /** How many evaluations a span has, counted up to so many. */
  countOfSpan(projectId: string, spanId: string, most: number): number;
  /** Evaluations of a span, newest first. */
  ofSpan(projectId: string, spanId: string): NamedEvaluation[];
  /** The newest evaluation of a span by a judge. */
  latest(judgeId: string, spanId: string): Evaluation | undefined;
}
