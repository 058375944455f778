import { useState } from 'preact/hooks';
import type { Invitation } from '../../../../features/sign-in/http/schema.js';
import { PERSON_ACCESSES, type PersonAccess } from '../../../../engine/identity/key-access.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt } from '../../state/query.js';
import { whoami } from '../../state/session.js';
import { AccessChoice } from './access-choice.js';

interface InviteFormProps {
  readonly onMade: (invitation: Invitation) => void;
  readonly onCancel: () => void;
}

export function InviteForm({ onMade, onCancel }: InviteFormProps) {
  const [name, setName] = useState('');
  const [access, setAccess] = useState<PersonAccess>('full');
  const send = async () => {
    const made = await call('POST /projects/:project_id/invites', { body: { name, access } });
    announce('Invitation created: copy its URL now');
    await Promise.all([changedAt(ofProject('/sign-ins')), changedAt(ofProject('/api-keys'))]);
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
        Your colleague gets their own user account from a single-use link that expires in one hour.
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
      <AccessChoice label="Access" among={PERSON_ACCESSES} chosen={access} onChoose={setAccess} />
    </Form>
  );
}
