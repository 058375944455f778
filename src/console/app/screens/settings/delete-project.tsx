import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { call } from '../../state/api.js';
import { base } from '../../state/location.js';

interface DeleteProjectProps {
  readonly name: string;
  readonly onClose: () => void;
}

/** Asks for the name of the project before it is deleted. */
export function DeleteProject({ name, onClose }: DeleteProjectProps) {
  const [typed, setTyped] = useState('');
  const end = async () => {
    await call('DELETE /projects/:project_id');
    // Nothing that is shown or remembered is there anymore.
    window.location.assign(`${base}/console`);
  };
  return (
    <Dialog title="Delete this project?" onClose={onClose}>
      <p>
        This deletes all spans, traces, sessions, prompts, judges, evaluations, feedback, links, prices, jobs, images
        and API keys of{' '}
        <bdi>
          <b>{name}</b>
        </bdi>
        . Requests with its keys are rejected, and all its users are signed out. This cannot be undone.
      </p>
      <Form
        action="Delete project"
        look="danger"
        icon="trash"
        refused={typed.trim() === name.trim() ? null : 'Enter the project name first'}
        onSend={end}
        onCancel={onClose}
      >
        <Field label="Enter the project name">
          <input
            class="input"
            autocomplete="off"
            autofocus
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </Field>
      </Form>
    </Dialog>
  );
}
