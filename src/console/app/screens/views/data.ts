import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { call, ofProject } from '../../state/api.js';
import { useQuery } from '../../state/query.js';

export interface ListShown {
  readonly list: ListDefinition;
  readonly query: URLSearchParams;
  readonly columns: readonly string[];
}

/** Where saved views are. */
export const views = () => ofProject('/saved-views');

/** The saved views of the project, by name. */
export function useViews({ enabled = true }: { readonly enabled?: boolean } = {}) {
  return useQuery({
    key: [views()],
    enabled,
    ask: (signal) => call('GET /projects/:project_id/saved-views', { signal }),
  });
}
