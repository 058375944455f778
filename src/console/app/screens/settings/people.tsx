import { useState } from 'preact/hooks';
import type { Invitation, SignInRead } from '../../../../features/sign-in/http/schema.js';
import { counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Dialog } from '../../parts/dialog.js';
import { Ending } from '../../parts/ending.js';
import { When } from '../../parts/figures.js';
import { Once } from '../../parts/once.js';
import { Answered } from '../../parts/states.js';
import { ofProject } from '../../state/api.js';
import { base } from '../../state/location.js';
import { InviteForm } from './invite-form.js';
import { Members } from './members.js';
import { OwnSessions } from './own-sessions.js';
import { peopleChanged } from './people-calls.js';
import { useSignIns } from './sign-ins.js';

/** Most that one answer names. */
const MAX = 1000;

/** The people of the project, who of them is signed in, and who is invited. */
export default function People() {
  const [dialog, setDialog] = useState<'invite' | Invitation | null>(null);
  const [ending, setEnding] = useState<SignInRead | null>(null);
  const answer = useSignIns();
  const close = () => setDialog(null);
  return (
    <div class="stack many-columns">
      <div class="line apart">
        <p class="soft">
          A role says what a person may do in this project. <a href={`${base}/docs/people`}>Documentation of roles</a>
        </p>
        <div class="line">
          <CopyAsCurl path={ofProject('/members')} />
          <Button look="main" icon="user" changes onClick={() => setDialog('invite')}>
            Invite colleague
          </Button>
        </div>
      </div>
      <Members />
      <div class="line apart">
        <h2>Sessions</h2>
        <CopyAsCurl path={ofProject('/sign-ins')} />
      </div>
      <Answered answer={answer}>
        {(signIns) => (
          <>
            <DataTable caption="Sessions" columns={columnsOf(setEnding)} rows={signIns} idOf={({ id }) => id} />
            <p class="soft">
              {signIns.length < MAX
                ? counted(signIns.length, 'session')
                : 'Showing the newest 1,000 sessions; end some to see others'}
            </p>
          </>
        )}
      </Answered>
      <OwnSessions />
      {dialog === 'invite' && (
        <Dialog title="Invite colleague" onClose={close}>
          <InviteForm onMade={setDialog} onCancel={close} />
        </Dialog>
      )}
      {dialog !== null && dialog !== 'invite' && (
        <Dialog key="made" title="Invitation created" onClose={close}>
          <Once what="URL" text={dialog.url} onClose={close}>
            <p>
              Single-use link for <bdi>{dialog.user.name}</bdi>, expires <When at={dialog.expires_at} />.
            </p>
          </Once>
        </Dialog>
      )}
      {ending !== null && <EndSignIn of={ending} onClose={() => setEnding(null)} />}
    </div>
  );
}

function EndSignIn({
  of: { id, user, stage, current },
  onClose,
}: {
  readonly of: SignInRead;
  readonly onClose: () => void;
}) {
  return (
    <Ending
      title={stage === 'code' ? 'Revoke this link?' : 'End this session?'}
      action={stage === 'code' ? 'Revoke link' : 'End session'}
      path={ofProject(`/sign-ins/${id}`)}
      done={stage === 'code' ? 'Link revoked' : 'Session ended'}
      onDone={peopleChanged}
      onClose={onClose}
    >
      <p>
        {stage === 'code' ? 'The link for ' : 'Signs '}
        <bdi>{user.name}</bdi>
        {stage === 'code' ? ' stops working.' : ' out of that browser. Other sessions and the key are not affected.'}
      </p>
      {current && <p class="hint">This is your current session: you will be signed out.</p>}
    </Ending>
  );
}

/** Where somebody is signed in, as far as is known. */
const fromOf = ({ browser, address }: SignInRead) =>
  [browser, address].filter((part) => part !== null).join(', ') || 'unknown';

function columnsOf(end: (signIn: SignInRead) => void): Column<SignInRead>[] {
  return [
    {
      name: 'user',
      label: 'Person',
      cell: ({ user, current }) => (
        <>
          <bdi>{user.name}</bdi> {current && <span class="badge">you, this browser</span>}
        </>
      ),
      full: ({ user }) => user.name,
    },
    {
      name: 'stage',
      label: 'State',
      cell: ({ stage }) =>
        stage === 'code' ? (
          <span class="badge warn">link not used yet</span>
        ) : (
          <span class="badge good">signed in</span>
        ),
    },
    {
      name: 'key',
      label: 'API key',
      named: true,
      cell: ({ key }) => <bdi>{key.name}</bdi>,
      full: ({ key }) => key.name,
    },
    { name: 'access', label: 'Access', named: true, cell: ({ key }) => key.access },
    {
      name: 'from',
      label: 'Browser and address',
      named: true,
      cell: (signIn) => fromOf(signIn),
      full: (signIn) => fromOf(signIn),
    },
    { name: 'since', label: 'Since', named: true, cell: ({ created_at }) => <When at={created_at} /> },
    {
      name: 'used',
      label: 'Last used',
      named: true,
      cell: ({ last_used_at: used }) => (used === null ? 'never' : <When at={used} relative />),
    },
    { name: 'ends', label: 'Expires', named: true, cell: ({ expires_at }) => <When at={expires_at} /> },
    {
      name: 'actions',
      label: 'Actions',
      cell: (signIn) => (
        <Button
          look="quiet"
          icon="sign-out"
          changes
          label={`${signIn.stage === 'code' ? 'Revoke the link for' : 'End the session of'} ${signIn.user.name}`}
          onClick={() => end(signIn)}
        />
      ),
    },
  ];
}
