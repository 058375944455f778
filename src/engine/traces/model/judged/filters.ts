/** Longest name or tag value that a filter asks for, in characters. */
export const LONGEST_FILTER_VALUE = 1_000;

/** Filters of the spans that a judge is about. Empty ones do not restrict; the others must all match. */
export interface JudgeFilters {
  /** Kinds, of which the span has one. */
  readonly kinds: readonly string[];
  /** Names, of which the span has one. */
  readonly names: readonly string[];
  /** Tags, all of which the span has. */
  readonly tags: Readonly<Record<string, string>>;
  /** Slug of the prompt that the span is a completion of. */
  readonly prompt_slug: string | null;
  /** Lower-case UUID of the only experiment whose spans it is about. Absent, or null: spans of none. */
  readonly experiment_id?: string | null;
}
