import { useState } from 'preact/hooks';
import type { MemberRead } from '../../../../features/people/http/schema.js';
import { counted } from '../../../model/format.js';
import { Dialog } from '../../parts/dialog.js';
import { Ending } from '../../parts/ending.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { loadWhoAmI, whoami } from '../../state/session.js';
import { peopleChanged } from './people-calls.js';
import { RoleChoice } from './role-choice.js';

interface MemberDialogProps {
  readonly member: MemberRead;
  readonly onClose: () => void;
}

/** Gives someone another role. */
export function ChangeRole({ member: { user, role: before }, onClose }: MemberDialogProps) {
  const [role, setRole] = useState(before);
  const send = async () => {
    await call('PATCH /projects/:project_id/members/:user_id', { params: { user_id: user.id }, body: { role } });
    announce('Role changed');
    if (user.id === whoami.value?.user.id) await loadWhoAmI();
    await peopleChanged();
    onClose();
  };
  return (
    <Dialog title="Change role" onClose={onClose}>
      <Form
        action="Change role"
        refused={role === before ? 'Choose another role' : null}
        onSend={send}
        onCancel={onClose}
      >
        <p>
          <bdi>{user.name}</bdi> gets the role with the next request. It limits their API keys, too: programs that use
          these may lose permissions.
        </p>
        <RoleChoice chosen={role} onChoose={setRole} />
      </Form>
    </Dialog>
  );
}

/** Takes someone out of the project. */
export function RemoveMember({ member: { user, keys }, onClose }: MemberDialogProps) {
  return (
    <Ending
      title="Remove this person?"
      action="Remove person"
      path={ofProject(`/members/${user.id}`)}
      done="Person removed"
      onDone={peopleChanged}
      onClose={onClose}
    >
      <p>
        <bdi>{user.name}</bdi> loses access to this project at once. What they wrote stays.
      </p>
      {keys > 0 && (
        <p class="hint">Also revokes {counted(keys, 'API key')} of theirs: programs that use them stop working.</p>
      )}
    </Ending>
  );
}

/** Signs someone out of the project, in every browser. */
export function EndSessions({ member: { user, sessions }, onClose }: MemberDialogProps) {
  return (
    <Ending
      title="End all sessions of this person?"
      action="End sessions"
      path={ofProject(`/members/${user.id}/sign-ins`)}
      done="Sessions ended"
      onDone={peopleChanged}
      onClose={onClose}
    >
      <p>
        Ends {counted(sessions, 'session')} of <bdi>{user.name}</bdi> in this project. Their role and API keys do not
        change.
      </p>
      {user.id === whoami.value?.user.id && <p class="hint">You will be signed out of this project.</p>}
    </Ending>
  );
}
