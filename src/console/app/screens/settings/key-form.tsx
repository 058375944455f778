import { useState } from 'preact/hooks';
import type { ApiKeyCreated } from '../../../../features/api-keys/http/schema.js';
import { DEFAULT_KEY_ACCESS, KEY_ACCESSES } from '../../../../engine/identity/key-access.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt } from '../../state/query.js';
import { AccessChoice } from './access-choice.js';

interface KeyFormProps {
  readonly onMade: (key: ApiKeyCreated) => void;
  readonly onCancel: () => void;
}

export function KeyForm({ onMade, onCancel }: KeyFormProps) {
  const [name, setName] = useState('');
  const [access, setAccess] = useState(DEFAULT_KEY_ACCESS);
  const send = async () => {
    const made = await call('POST /projects/:project_id/api-keys', { body: { name, access } });
    announce('Key created: copy it now');
    await changedAt(ofProject('/api-keys'));
    onMade(made);
  };
  return (
    <Form
      action="Create key"
      icon="key"
      refused={name.trim() === '' ? 'Enter a name' : null}
      onSend={send}
      onCancel={onCancel}
    >
      <Field label="Name" hint="What the key is for">
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
      <AccessChoice label="Access" among={KEY_ACCESSES} chosen={access} onChoose={setAccess} />
    </Form>
  );
}
