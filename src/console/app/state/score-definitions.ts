import { call } from './api.js';
import { useQuery } from './query.js';

/** What values the scores of the project have, by name. @param enabled false: nothing is asked yet */
export function useScoreDefinitions(enabled = true) {
  return useQuery({
    key: ['/score-definitions'],
    ask: (signal) => call('GET /projects/:project_id/score-definitions', { signal }),
    enabled,
  });
}
