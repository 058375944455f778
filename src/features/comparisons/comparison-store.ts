import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';
import type { ErrorWay, Verdict } from './comparison.js';
import type { Compared } from './outcome.js';
import type { MetricInput } from './input-schema.js';

/** Most comparisons of a project: the oldest goes when one more is made. */
export const MAX_COMPARISONS = 10_000;
/** Most bytes that what a comparison found has as JSON. */
export const MAX_FOUND = 1024 * 1024;
/** Most bytes of what is asked of one. */
export const MAX_REQUEST = 64 * 1024;

/** What is asked of a comparison. */
export interface Request {
  readonly metrics: readonly MetricInput[];
  readonly confidence: number;
  readonly slices: readonly string[];
  readonly errors: ErrorWay;
  /** Tags that the experiments were asked for by; absent: by their ids. */
  readonly tags?: { readonly candidate?: string; readonly baseline?: string };
}

/** One of the two experiments. */
export interface ComparedArm {
  readonly id: string;
  readonly name: string;
  /** Number of the version of its dataset. */
  readonly dataset_version: number;
  /** The tag that it was asked for by; null: its id. */
  readonly tag: string | null;
}

/** A comparison without what it found of metrics. */
export interface ListedComparison {
  /** Lower-case UUID. */
  readonly id: string;
  readonly dataset: { readonly id: string; readonly name: string };
  readonly candidate: ComparedArm;
  readonly baseline: ComparedArm;
  readonly verdict: Verdict;
  /** When it began to read. */
  readonly created_at: Micros;
  readonly created_by: string;
}

export interface Comparison extends ListedComparison {
  /** Whether both experiments tried the same. */
  readonly is_repeat: boolean;
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
  /** @returns false: an experiment, or something of the dataset, was deleted since it began */
  add(projectId: string, comparison: Comparison): boolean;
  find(projectId: string, id: string): Comparison | undefined;
  /** The newest comparison on a dataset of two experiments that tried the same. */
  lastRepeat(projectId: string, datasetId: string): Comparison | undefined;
  /** Newest first. */
  list(projectId: string, filter: ComparisonFilter, window: Window): ListedComparison[];
  count(projectId: string, filter: ComparisonFilter): number;
  /** @returns false: there is none */
  remove(projectId: string, id: string): boolean;
  /** Removes some of those of a hidden experiment, of whatever project. @returns how many */
  removeOf(experimentId: string, atOnce: number): number;
  /** Removes some of those of datasets of which rows were erased since they began, which no one sees anymore. @returns how many */
  removeErased(atOnce: number): number;
}
