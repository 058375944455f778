import { Type, type Static } from '@sinclair/typebox';
import type { ListedMember } from '../../../engine/identity/member-store.js';
import { ROLE_NAMES, ROLES_EXPLAINED } from '../../../engine/identity/roles.js';
import { count, line, oneOf, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';

export const TAG = 'People';

const role = oneOf(ROLE_NAMES, `Role in the project. ${ROLES_EXPLAINED}.`);

export const MemberPatch = Type.Object({ role }, { $id: 'MemberPatch', description: 'The role that a person gets.' });

export const MemberRead = Type.Object(
  {
    user: Type.Object(
      {
        id: uuid('Id of the user.'),
        name: Type.String({ description: 'Name of the user.' }),
        email: orNull(line(320, 'Email address; null: none is known.')),
      },
      { description: 'The user.' },
    ),
    role,
    since: time('Since when the user is one of the people of the project.'),
    pending: Type.Boolean({ description: 'Whether the user was created for an invitation that no one has taken yet.' }),
    keys: count('API keys that the user created in the project.'),
    sessions: count('Sessions of the user that have access to the project.'),
    last_seen_at: orNull(time('When one of these was last used, to about ten minutes; null: none is open.')),
  },
  { $id: 'Member', description: 'A person of a project.' },
);
export type MemberRead = Static<typeof MemberRead>;

export function memberRead(member: ListedMember): MemberRead {
  const { user_id, user_name, email, role, created_at, pending, keys, sessions, last_seen_at } = member;
  return {
    user: { id: user_id, name: user_name, email },
    role,
    since: formatTimestamp(created_at),
    pending,
    keys,
    sessions,
    last_seen_at: formatOptionalTimestamp(last_seen_at),
  };
}
