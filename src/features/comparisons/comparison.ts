import type { Interval } from '../../engine/statistics/intervals.js';
import type { MetricJudge } from './judge-agreement.js';

/** What a metric must be for a comparison to pass. */
export const RULES = ['no_regression', 'not_worse', 'at_least', 'report'] as const;
export type Rule = (typeof RULES)[number];
/** How results with an error count in scores. */
export const ERROR_WAYS = ['count_as_fail', 'leave_out'] as const;
export type ErrorWay = (typeof ERROR_WAYS)[number];
export const DIRECTIONS = ['higher', 'lower'] as const;
export type Direction = (typeof DIRECTIONS)[number];
export const VERDICTS = ['passed', 'failed', 'undecided', 'incomparable'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Metrics that are no scores: what the traces of results say, summed over rows. */
export const FIGURES = ['cost', 'duration_ms', 'input_tokens', 'output_tokens'] as const;
export type Figure = (typeof FIGURES)[number];
/** The share of results with an error. */
export const ERROR = 'error';

/** What the values of a metric are, which says how they are compared. */
export const MEASURES = ['boolean', 'number', 'sum', 'category', 'text'] as const;
export type Measure = (typeof MEASURES)[number];

/** In the metric's own unit, or as a share of the baseline. */
export type Margin = { readonly absolute: number } | { readonly share: number };

/** A metric as it is compared. */
export interface Metric {
  readonly name: string;
  readonly rule: Rule;
  readonly margin: Margin | null;
  /** What `at_least` requires of the mean of the candidate. */
  readonly value: number | null;
  readonly direction: Direction;
  readonly measure: Measure;
}

/** A metric without what goes beyond it. */
export function metricOf({ name, rule, margin, value, direction, measure }: Metric): Metric {
  return { name, rule, margin, value, direction, measure };
}

/** A metric of the rows that have it in both arms, by row. */
export interface PairedMetric extends Metric {
  /** Of booleans 0 and 1, of categories their place in `categories`; means of repetitions. */
  readonly candidate: Float64Array;
  readonly baseline: Float64Array;
  /** The place of each among the paired rows. */
  readonly rows: Int32Array;
  /** Whether no row has several values. */
  readonly single: boolean;
  readonly categories: readonly string[];
  readonly left_out: LeftOutValues;
  /** Places of paired rows whose value is too large to be reckoned with. */
  readonly tooLarge: Int32Array;
}

/** Paired rows that a metric leaves out. */
export interface LeftOutValues {
  readonly no_value: number;
  readonly error: number;
  /** Their value is too large to be reckoned with; left away: of none. */
  readonly too_large?: number;
}

/** Rows of the dataset that are not compared, by why. */
export interface LeftOutRows {
  readonly missing_in_candidate: number;
  readonly missing_in_baseline: number;
  readonly missing_in_both: number;
  /** What they say differs between the two versions. */
  readonly content_differs: number;
  /** Only one of the two versions has them. */
  readonly not_in_both_versions: number;
  /** Their content is gone, with the span that they were made of. */
  readonly erased: number;
}

export type LeftOut = keyof LeftOutRows;

export const NONE_LEFT_OUT: Readonly<Record<LeftOut, number>> = {
  missing_in_candidate: 0,
  missing_in_baseline: 0,
  missing_in_both: 0,
  content_differs: 0,
  not_in_both_versions: 0,
  erased: 0,
};

/** Which paired rows have which value of a column. */
export interface Slicing {
  readonly column: string;
  readonly values: readonly string[];
  /** By paired row: a place in `values`; -1: none of them. */
  readonly of: Int32Array;
}

/** What was spent on a comparison, in US dollars; null: that is not known, or nothing was. */
export interface Spent {
  readonly candidate: number | null;
  readonly baseline: number | null;
  readonly judges: number | null;
}

/** A sum of what is known; null: nothing is. */
export function sumOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : one + other;
}

/** A value or category of fewer rows is not named, as it could say who is meant. */
export const MIN_NAMED_ROWS = 5;
/** What categories that are not named count as. */
export const OTHERS = '(others)';

/** All that figures and verdicts are made of. */
export interface PairedRows {
  readonly seed: string;
  readonly confidence: number;
  readonly metrics: readonly PairedMetric[];
  readonly slicings: readonly Slicing[];
}

/** What one experiment has of a metric; null: not of such values. */
export interface ArmFigures {
  /** Mean over rows; of booleans, the share that is true. */
  readonly mean: number | null;
  readonly interval: Interval | null;
  readonly standard_error: number | null;
  readonly sum: number | null;
  readonly median: number | null;
  readonly p95: number | null;
  readonly categories: readonly { readonly category: string; readonly rows: number }[] | null;
}

/** Candidate minus baseline. */
export interface Difference {
  readonly value: number;
  readonly interval: Interval | null;
  /** Whether it is a share of the baseline's sum. */
  readonly relative: boolean;
}

/** Rows whose category changed. */
export interface Move {
  readonly from: string;
  readonly to: string;
  readonly rows: number;
}

export const TESTS = ['mcnemar_mid_p', 'sign_flip', 'stuart_maxwell'] as const;
export type TestName = (typeof TESTS)[number];

/** Rows by what became of them. */
export interface Changed {
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

export interface SliceFigures extends Changed {
  readonly column: string;
  readonly value: string;
  readonly rows: number;
  readonly candidate: number | null;
  readonly baseline: number | null;
  readonly difference: Difference | null;
}

/** What a metric is in both arms. */
export interface MetricFigures extends Metric, Changed {
  readonly rows: number;
  readonly left_out: LeftOutValues;
  readonly candidate: ArmFigures;
  readonly baseline: ArmFigures;
  readonly difference: Difference | null;
  readonly test: TestName | null;
  readonly p: number | null;
  /** The margin in the unit of the difference. */
  readonly margin_of_difference: number | null;
  readonly detectable: number | null;
  readonly rows_for_margin: number | null;
  /** Null: no categories. */
  readonly moves: readonly Move[] | null;
  readonly slices: readonly SliceFigures[];
}

/** How far a metric differed in a comparison of two experiments that tried the same. */
export interface Noise extends Interval {
  readonly comparison_id: string;
}

export interface MetricOutcome extends MetricFigures {
  /** Of metrics that are gated by their difference. */
  readonly adjusted_p: number | null;
  readonly verdict: 'passed' | 'failed' | 'undecided' | 'reported';
  readonly because: string;
  /** Whose verdicts are compared; null, or absent: the metric is no judge's. */
  readonly judge?: MetricJudge | null;
  /** Null, or absent: the same was never tried twice on the dataset. */
  readonly noise?: Noise | null;
}
