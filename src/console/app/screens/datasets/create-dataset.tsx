import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { datasetsChanged, type Dataset } from './data.js';
import { NameFields, type NamedDraft } from './name-fields.js';

interface CreateDatasetProps {
  readonly onClose: () => void;
  readonly onCreated: (dataset: Dataset) => void;
}

export function CreateDataset({ onClose, onCreated }: CreateDatasetProps) {
  const [draft, setDraft] = useState<NamedDraft>({ name: '', description: '' });
  const create = async () => {
    const dataset = await call('POST /v1/datasets', { body: { ...draft, name: draft.name.trim() } });
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
        changes="datasets:write"
        refused={draft.name.trim() === '' ? 'Enter a name' : null}
        onSend={create}
        onCancel={onClose}
      >
        {(wrong) => (
          <NameFields
            draft={draft}
            hint="Slashes make folders, such as support/questions."
            wrong={wrong}
            onSet={setDraft}
          />
        )}
      </Form>
    </Dialog>
  );
}
