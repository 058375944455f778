import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';
import type { ErrorWay, Verdict } from './comparison.js';
import type { Compared } from './outcome.js';
import type { MetricInput } from './schema.js';

/** Most comparisons of a project: the oldest goes when one more is made. */
export const MAX_COMPARISONS = 10_000;

/** What is asked of a comparison. */
export interface Request {
  readonly metrics: readonly MetricInput[];
  readonly confidence: number;
  readonly slices: readonly string[];
  readonly errors: ErrorWay;
}

/** One of the two experiments. */
export interface ComparedArm {
  readonly id: string;
  readonly name: string;
  /** Number of the version of its dataset. */
  readonly dataset_version: number;
}

/** A comparison without what it found of metrics. */
export interface ListedComparison {
  /** Lower-case UUID. */
  readonly id: string;
  readonly dataset: { readonly id: string; readonly name: string };
  readonly candidate: ComparedArm;
  readonly baseline: ComparedArm;
  readonly verdict: Verdict;
  readonly created_at: Micros;
  readonly created_by: string;
}

export interface Comparison extends ListedComparison {
  readonly request: Request;
  readonly found: Compared;
}

/** Which comparisons are listed; null: any. */
export interface ComparisonFilter {
  /** The candidate or the baseline. */
  readonly experimentId: string | null;
  readonly verdict: Verdict | null;
}

/**
 * Comparisons of a project. Those of an experiment go with it.
 * @throws DomainError `unavailable` when the store does not answer; nothing is written then
 */
export interface ComparisonStore {
  add(projectId: string, comparison: Comparison): void;
  find(projectId: string, id: string): Comparison | undefined;
  /** Newest first. */
  list(projectId: string, filter: ComparisonFilter, window: Window): ListedComparison[];
  count(projectId: string, filter: ComparisonFilter): number;
  /** @returns false: there is none */
  remove(projectId: string, id: string): boolean;
}
