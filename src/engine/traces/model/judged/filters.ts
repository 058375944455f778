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

/** The most characters that the filters of one statement may take together. */
export const MAX_FILTERS = 20_000;
/** The most alternatives in one statement. */
const MAX_ALTERNATIVES = 200;
/** Characters that a condition on a tag takes beside the tag itself. */
const TAG_OVERHEAD = 100;

/** Whether a statement may hold all of some filters. If not, it asks for all spans: rows are matched again anyway. */
export function isBounded(filters: readonly JudgeFilters[]): boolean {
  if (filters.length > MAX_ALTERNATIVES) return false;
  const lengths = filters.flatMap(({ kinds, names, tags }) => [
    ...[...kinds, ...names].map((text) => text.length),
    ...Object.entries(tags).map(([key, wanted]) => key.length + wanted.length + TAG_OVERHEAD),
  ]);
  return lengths.reduce((sum, length) => sum + length, 0) <= MAX_FILTERS;
}
