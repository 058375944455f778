import type { MemberRead } from '../../../../features/people/http/schema.js';
import { isAbove } from '../../../../engine/identity/roles.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt, useQuery, type Answer } from '../../state/query.js';
import { whoami } from '../../state/session.js';

/** The people of the project: at most a thousand. */
export function useMembers(): Answer<MemberRead[]> {
  return useQuery({
    key: [ofProject('/members')],
    ask: (signal) => call('GET /projects/:project_id/members', { signal }),
  });
}

/** Who someone is, or may do, is another thing now. */
export async function peopleChanged(): Promise<void> {
  await Promise.all(['/members', '/sign-ins', '/api-keys'].map((path) => changedAt(ofProject(path))));
}

/** Why the signed-in person may not change someone; null: they may. */
export function refusalOver({ role }: Pick<MemberRead, 'role'>): string | null {
  return isAbove(role, whoami.value?.role ?? null) ? `Only an owner can change a person with the role ${role}` : null;
}
