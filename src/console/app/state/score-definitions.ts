import { call } from './api.js';
import { useQuery } from './query.js';

/** What values the scores of the project have, by name. */
export function useScoreDefinitions() {
  return useQuery({
    key: ['/score-definitions'],
    ask: (signal) => call('GET /projects/:project_id/score-definitions', { signal }),
  });
}
