import { call, ofProject } from '../../state/api.js';
import { useQuery } from '../../state/query.js';

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
