import type { Micros } from '../../engine/timestamp.js';
import type { Evaluation, ListedEvaluation } from './evaluation.js';
import type { Window } from '../../engine/schema/page.js';

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
 * What people said of an evaluation. `disagreed`: someone that it is wrong; `agreed`: only that it is right; `unreviewed`:
 * no one said anything of it, or of a later evaluation of its span by the judge.
 */
export const AGREEMENTS = ['disagreed', 'agreed', 'unreviewed'] as const;
export type Agreement = (typeof AGREEMENTS)[number];

export const EVALUATION_SORTS = ['created_at', 'confidence'] as const;

/** The order of a list; ties are in the order of storing, and evaluations without a confidence come last either way. */
export interface EvaluationOrder {
  readonly by: (typeof EVALUATION_SORTS)[number];
  readonly descending: boolean;
}

/** A list of a judge's evaluations. */
export interface EvaluationSelection {
  readonly judgeId: string;
  readonly filter: EvaluationFilter;
  readonly order: EvaluationOrder;
  /** The highest number of an evaluation that it takes. */
  readonly upTo: number;
}

/** Where a walk through a list stands: only the store knows what it means. */
export interface EvaluationPlace {
  readonly segment: number;
  readonly key: readonly number[];
}

/** Some of a judge's evaluations, as a list finds them. */
export interface EvaluationPortion {
  /** How many the filter takes. */
  readonly found: number;
  /** Numbers of those in the window, counted from the first that was found. */
  readonly numbers: readonly number[];
  /** Where the next portion begins; null: this was the last. */
  readonly next: EvaluationPlace | null;
}

/** An evaluation with what lists are ordered by. */
export interface EvaluationKey {
  readonly number: number;
  readonly created_at: Micros;
  readonly confidence: number | null;
}

/** Where evaluations are kept. Guarantees as of JudgeStore. */
export interface EvaluationStore {
  /** Stores an evaluation; moves `created_at` on when the clock went back, so that a judge's times keep the order of storing. */
  insert(evaluation: Evaluation): Evaluation;
  /** The highest number of an evaluation; each that is stored later has a higher one. */
  newest(): number;
  /**
   * Looks at so many evaluations of a judge at most, in the order of the list.
   * @param from as the portion before says; null: the first
   */
  portion(of: EvaluationSelection, from: EvaluationPlace | null, most: number, window: Window): EvaluationPortion;
  /** All that the list has of some spans, in no order. */
  ofSpans(of: EvaluationSelection, projectId: string, spanIds: readonly string[]): EvaluationKey[];
  /** An evaluation by its number. */
  read(number: number): ListedEvaluation | undefined;
  /** How many evaluations a span has, counted up to so many. */
  countOfSpan(projectId: string, spanId: string, most: number): number;
  /** Numbers of the evaluations of a span, newest first. */
  numbersOfSpan(projectId: string, spanId: string): number[];
  /** The newest evaluation of a span by a judge. */
  latest(judgeId: string, spanId: string): Evaluation | undefined;
  /** The newest evaluation of a trace or session by a judge. */
  latestOfWhole(judgeId: string, subjectId: string): Evaluation | undefined;
  /** How many evaluations of a trace or session a judge made by itself, counted up to so many. */
  countOfWhole(judgeId: string, subjectId: string, most: number): number;
  /** Up to when spans had arrived that the judge was shown when it last evaluated a trace or session by itself; null: never. */
  newestAutomaticUpto(judgeId: string, subjectId: string): Micros | null;
}
