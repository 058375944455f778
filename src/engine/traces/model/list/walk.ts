import type { ListDefinition } from './definitions.js';
import type { AppliedFilter, ListQuery } from './query.js';
import type { Micros } from '../../../timestamp.js';

/** Fields by which a walk through a list, newest first, finds the next page, and the filter that bounds the first of them. */
export const WALK_KEYS = {
  spans: { time: 'started_at', before: 'started_before', ids: ['id', 'trace_id'] },
  traces: { time: 'started_at', before: 'started_before', ids: ['id'] },
  sessions: { time: 'created_at', before: 'created_before', ids: ['id'] },
} as const;

/** The order in which a list is gone through. */
export function newestFirst({ defaultSort }: ListDefinition): Pick<ListQuery, 'sort' | 'descending' | 'count'> {
  return { sort: defaultSort, descending: true, count: false };
}

/** Filters that also find nothing above a bound. @param parameter that of an upper bound */
export function atMost(
  list: ListDefinition,
  filters: readonly AppliedFilter[],
  parameter: string,
  bound: Micros | undefined,
): readonly AppliedFilter[] {
  const filter = list.filters.find((each) => each.parameter === parameter);
  if (bound === undefined || filter === undefined) return filters;
  const bounds = filters.filter((applied) => applied.filter === filter).map(({ values }) => Number(values[0]));
  const others = filters.filter((applied) => applied.filter !== filter);
  return [...others, { filter, values: [Math.min(bound, ...bounds)] }];
}
