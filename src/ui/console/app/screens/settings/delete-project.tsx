import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { call, ofProject } from '../../state/api.js';
import { base } from '../../state/location.js';

interface DeleteProjectProps {
  readonly name: string;
  readonly onClose: () => void;
}

/** Asks for the name of the project before it is deleted. */
export function DeleteProject({ name, onClose }: DeleteProjectProps) {
  const [typed, setTyped] = useState('');
  const end = async () => {
    await call(ofProject(''), { method: 'DELETE' });
    // Nothing that is shown or remembered is there any more.
    window.location.assign(`${base}/console`);
  };
  return (
    <Dialog title="Delete the project?" onClose={onClose}>
      <p>
        Spans, traces, sessions, prompts, judges, evaluations, feedback, links, prices, jobs, images and API keys of{' '}
        <bdi>
          <b>{name}</b>
        </bdi>{' '}
        are deleted. Programs that send to it are refused, everybody signed in to it is signed out. This cannot be
        undone.
      </p>
      <Form
        action="Delete the project for good"
        look="danger"
        icon="trash"
        refused={typed.trim() === name.trim() ? null : 'Type its name first'}
        onSend={end}
        onCancel={onClose}
      >
        <Field label="Type the name of the project">
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
