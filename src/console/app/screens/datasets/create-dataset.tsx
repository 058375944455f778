import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { datasetsChanged, type Dataset } from './data.js';

interface CreateDatasetProps {
  readonly onClose: () => void;
  readonly onCreated: (dataset: Dataset) => void;
}

export function CreateDataset({ onClose, onCreated }: CreateDatasetProps) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const create = async () => {
    const dataset = await call('POST /v1/datasets', { body: { name: name.trim(), description } });
    announce(`Dataset ${dataset.name} created`);
    await datasetsChanged();
    onClose();
    onCreated(dataset);
  };
  return (
    <Dialog title="New dataset" onClose={onClose}>
      <Form
        action="Create dataset"
        icon="plus"
        refused={name.trim() === '' ? 'Enter a name' : null}
        onSend={create}
        onCancel={onClose}
      >
        <Field label="Name" hint="Slashes make folders, such as support/questions.">
          <input
            class="input"
            autofocus
            autocomplete="off"
            maxLength={128}
            value={name}
            onInput={({ currentTarget: { value } }) => setName(value)}
          />
        </Field>
        <Field label="Description" hint="Optional: what its rows are, and what they test.">
          <textarea
            class="input"
            maxLength={10_000}
            value={description}
            onInput={({ currentTarget: { value } }) => setDescription(value)}
          />
        </Field>
      </Form>
    </Dialog>
  );
}
