import type { SignInRead } from '../../../../features/sign-in/http/schema.js';
import { call, ofProject } from '../../state/api.js';
import { useQuery, type Answer } from '../../state/query.js';

/** Who is signed in, and by which URLs one may sign in still: the newest thousand. */
export function useSignIns(): Answer<SignInRead[]> {
  return useQuery({
    key: [ofProject('/sign-ins')],
    ask: (signal) => call('GET /projects/:project_id/sign-ins', { signal }),
  });
}
