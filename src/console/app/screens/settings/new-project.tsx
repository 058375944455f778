import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { base, navigate } from '../../state/location.js';

/** Makes a project, and shows it. */
export function NewProject({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const create = async () => {
    const { id } = await call('POST /projects', { body: { name: name.trim() } });
    announce('Project created');
    onClose();
    navigate(`${base}/console/p/${id}/first`);
  };
  return (
    <Dialog title="New project" onClose={onClose}>
      <Form
        action="Create project"
        icon="plus"
        changes="admin"
        refused={name.trim() === '' ? 'Enter a name' : null}
        onSend={create}
        onCancel={onClose}
      >
        {(wrong) => (
          <Field label="Name" hint="You will be its owner, and can invite others." wrong={wrong['name'] ?? null}>
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
        )}
      </Form>
    </Dialog>
  );
}
