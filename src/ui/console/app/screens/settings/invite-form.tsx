import { useState } from 'preact/hooks';
import type { Invitation } from '../../../../../transport/http/routes/sign-in/schema.js';
import { DEFAULT_KEY_ACCESS, KEY_ACCESSES } from '../../../../../domain/identity/key-access.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt } from '../../state/query.js';
import { whoami } from '../../state/session.js';
import { AccessChoice } from './access-choice.js';

/** A console shows nothing to whoever may only send. */
const INVITED = KEY_ACCESSES.filter((access) => access !== 'ingest');

interface InviteFormProps {
  readonly onMade: (invitation: Invitation) => void;
  readonly onCancel: () => void;
}

export function InviteForm({ onMade, onCancel }: InviteFormProps) {
  const [name, setName] = useState('');
  const [access, setAccess] = useState(DEFAULT_KEY_ACCESS);
  const send = async () => {
    const made = await call<Invitation>(ofProject('/invites'), { method: 'POST', body: { name, access } });
    announce('The invitation is made: copy its URL now');
    await Promise.all([changedAt(ofProject('/sign-ins')), changedAt(ofProject('/api-keys'))]);
    onMade(made);
  };
  return (
    <Form
      action="Make the invitation"
      icon="user"
      refused={name.trim() === '' ? 'Name your colleague' : null}
      onSend={send}
      onCancel={onCancel}
    >
      <p class="soft">
        Your colleague becomes a user of their own, by a URL that works once and for an hour.
        {whoami.value?.capabilities.public_url === false &&
          ' PUBLIC_URL is not set, so it may open on the machine of the server only.'}
      </p>
      <Field label="Name of your colleague">
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
      <AccessChoice label="They may" among={INVITED} chosen={access} onChoose={setAccess} />
    </Form>
  );
}
