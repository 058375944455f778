import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.js';
import { Field } from '../../parts/field.js';
import { CreateDataset } from './create-dataset.js';
import type { Dataset } from './data.js';

interface DatasetChoiceProps {
  readonly datasets: readonly Dataset[];
  readonly chosen: Dataset | null;
  readonly onChoose: (dataset: Dataset) => void;
}

/** Chooses a dataset, or creates one. */
export function DatasetChoice({ datasets, chosen, onChoose }: DatasetChoiceProps) {
  const [creating, setCreating] = useState(false);
  const isListed = chosen === null || datasets.some(({ id }) => id === chosen.id);
  const offered = isListed ? datasets : [chosen, ...datasets];
  return (
    <div class="line fields">
      <Field label="Dataset">
        <select
          class="input"
          value={chosen?.id ?? ''}
          onChange={({ currentTarget: { value } }) => {
            const found = offered.find(({ id }) => id === value);
            if (found !== undefined) onChoose(found);
          }}
        >
          <option value="">{offered.length === 0 ? 'No datasets yet' : 'Choose a dataset'}</option>
          {offered.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      <Button icon="plus" changes="datasets:write" onClick={() => setCreating(true)}>
        New dataset
      </Button>
      {creating && <CreateDataset onClose={() => setCreating(false)} onCreated={onChoose} />}
    </div>
  );
}
