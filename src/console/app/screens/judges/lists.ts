import { call, type QueryOf } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';

/** Most judges, evaluations or runs that one call answers. */
export const MAX_PAGE = 500;

const EVALUATIONS = 'GET /projects/:project_id/judges/:judge_id/evaluations';

/** Has everything asked again that is known of judges, or of one. */
export function judgesChanged(id?: string): Promise<void> {
  return id === undefined ? changedAt('/judges') : changedAt('/judges', id);
}

export function useJudges(window: { readonly offset: number; readonly limit: number }) {
  return useQuery({
    key: ['/judges', 'list', window],
    ask: (signal) => call('GET /projects/:project_id/judges', { query: window, signal }),
  });
}

export function useEvaluations(id: string, query: QueryOf<typeof EVALUATIONS>) {
  return useQuery({
    key: ['/judges', id, 'evaluations', query],
    ask: (signal) => call(EVALUATIONS, { params: { judge_id: id }, query, signal }),
  });
}
