import type { Static } from '@sinclair/typebox';
import type { ComparedRow as ComparedRowRead } from '../../../../features/comparisons/row-schema.js';
import type { ComparisonRead, ListedComparisonRead } from '../../../../features/comparisons/schema.js';
import { call, callPage, ofProject, type ListPage, type QueryOf } from '../../state/api.js';
import { changedAt, useQuery, type Answer } from '../../state/query.js';

export type Comparison = ComparisonRead;
export type ListedComparison = Static<typeof ListedComparisonRead>;
export type ComparedRow = Static<typeof ComparedRowRead>;
type Rows = QueryOf<'GET /projects/:project_id/comparisons/:comparison_id/rows'>;

/** All that is asked of comparisons has a key that begins so. */
export const COMPARISONS = '/comparisons';

export function comparisonsChanged(): Promise<void> {
  return changedAt(COMPARISONS);
}

export function pathOfComparison(id: string, path = ''): string {
  return ofProject(`/comparisons/${id}${path}`);
}

/** Comparisons, newest first. */
export function useComparisons(query: QueryOf<'GET /projects/:project_id/comparisons'>) {
  return useQuery<ListPage<ListedComparison>>({
    key: [COMPARISONS, query],
    ask: (signal) => callPage('GET /projects/:project_id/comparisons', { query, signal }),
  });
}

export function useComparison(id: string): Answer<Comparison> {
  return useQuery<Comparison>({
    key: [COMPARISONS, id],
    ask: (signal) =>
      call('GET /projects/:project_id/comparisons/:comparison_id', { params: { comparison_id: id }, signal }),
  });
}

export function useComparedRows(id: string, query: Rows) {
  return useQuery<ListPage<ComparedRow>>({
    key: [COMPARISONS, id, 'rows', query],
    ask: (signal) =>
      callPage('GET /projects/:project_id/comparisons/:comparison_id/rows', {
        params: { comparison_id: id },
        query,
        signal,
      }),
    keptMs: 60_000,
  });
}
