import { useState } from 'preact/hooks';
import type { MemberRead } from '../../../../features/people/http/schema.js';
import { counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { whoami } from '../../state/session.js';
import { ChangeRole, EndSessions, RemoveMember } from './member-dialogs.js';
import { refusalOver, useMembers } from './people-calls.js';

type Asked = { readonly what: 'role' | 'remove' | 'sessions'; readonly member: MemberRead };

/** The people of the project, and what each may do. */
export function Members() {
  const [asked, setAsked] = useState<Asked | null>(null);
  const answer = useMembers();
  const close = () => setAsked(null);
  const dialog = asked && { member: asked.member, onClose: close };
  return (
    <>
      <Answered answer={answer}>
        {(members) => (
          <>
            <DataTable caption="People" columns={columnsOf(setAsked)} rows={members} idOf={({ user }) => user.id} />
            <p class="soft">{members.length === 1 ? '1 person' : `${members.length} people`}</p>
          </>
        )}
      </Answered>
      {asked?.what === 'role' && dialog && <ChangeRole {...dialog} />}
      {asked?.what === 'remove' && dialog && <RemoveMember {...dialog} />}
      {asked?.what === 'sessions' && dialog && <EndSessions {...dialog} />}
    </>
  );
}

function columnsOf(ask: (asked: Asked) => void): Column<MemberRead>[] {
  return [
    {
      name: 'user',
      label: 'Person',
      cell: ({ user, pending }) => (
        <>
          <bdi>{user.name}</bdi> {user.id === whoami.value?.user.id && <span class="badge">you</span>}
          {pending && <span class="badge warn">invited</span>}
        </>
      ),
      full: ({ user }) => user.name,
    },
    { name: 'role', label: 'Role', cell: ({ role }) => role },
    { name: 'since', label: 'Since', named: true, cell: ({ since }) => <When at={since} /> },
    {
      name: 'seen',
      label: 'Last seen',
      named: true,
      cell: ({ last_seen_at: at }) => (at === null ? 'not signed in' : <When at={at} relative />),
    },
    { name: 'keys', label: 'Keys', named: true, cell: ({ keys }) => counted(keys, 'key') },
    {
      name: 'actions',
      label: 'Actions',
      cell: (member) => {
        const { name } = member.user;
        const refused = refusalOver(member);
        const none = member.sessions === 0 ? 'No session is open' : null;
        const open = (what: Asked['what']) => () => ask({ what, member });
        return (
          <span class="actions">
            <Button
              look="quiet"
              icon="edit"
              changes
              label={`Change the role of ${name}`}
              refused={refused}
              onClick={open('role')}
            />
            <Button
              look="quiet"
              icon="sign-out"
              changes
              label={`End all sessions of ${name}`}
              refused={refused ?? none}
              onClick={open('sessions')}
            />
            <Button
              look="quiet"
              icon="trash"
              changes
              label={`Remove ${name}`}
              refused={refused}
              onClick={open('remove')}
            />
          </span>
        );
      },
    },
  ];
}
