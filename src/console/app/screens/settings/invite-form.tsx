import { useState } from 'preact/hooks';
import type { Invitation } from '../../../../features/sign-in/http/schema.js';
import { DEFAULT_ROLE, type Role } from '../../../../engine/identity/roles.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { whoami } from '../../state/session.js';
import { peopleChanged } from './people-calls.js';
import { RoleChoice } from './role-choice.js';

interface InviteFormProps {
  readonly onMade: (invitation: Invitation) => void;
  readonly onCancel: () => void;
}

export function InviteForm({ onMade, onCancel }: InviteFormProps) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>(DEFAULT_ROLE);
  const send = async () => {
    const made = await call('POST /projects/:project_id/invites', { body: { name, role } });
    announce('Invitation created: copy its URL now');
    await peopleChanged();
    onMade(made);
  };
  return (
    <Form
      action="Create invitation"
      icon="user"
      refused={name.trim() === '' ? 'Enter a name' : null}
      onSend={send}
      onCancel={onCancel}
    >
      <p class="soft">
        Your colleague gets their own user account from a single-use link that expires in one hour, or joins with the
        account that they are signed in with.
        {whoami.value?.capabilities.public_url === false &&
          ' PUBLIC_URL is not set, so the link may work only on the server’s own machine.'}
      </p>
      <Field label="Colleague’s name">
        <input
          class="input"
          required
          maxLength={200}
          autofocus
          autocomplete="off"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </Field>
      <RoleChoice chosen={role} onChoose={setRole} />
    </Form>
  );
}
