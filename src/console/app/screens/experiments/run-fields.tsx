import { Field } from '../../parts/field.js';
import { call } from '../../state/api.js';
import { useQuery } from '../../state/query.js';
import { useDatasets } from '../datasets/data.js';
import type { RunFieldsProps } from './run-fields-props.js';
import { DatasetVersionField, PromptVersionField, VariableFields } from './run-versions.js';

/** Datasets, and prompts, that can be chosen. */
const OFFERED = 200;

/** What is run on what, and how. */
export function RunFields({ draft, wrong, onSet }: RunFieldsProps) {
  const datasets = useDatasets({ limit: OFFERED }).data?.rows ?? [];
  const prompts =
    useQuery({
      key: ['/prompts', 'run'],
      ask: (signal) => call('GET /projects/:project_id/prompts', { query: { limit: OFFERED }, signal }),
    }).data ?? [];
  const dataset = datasets.find(({ name }) => name === draft.dataset);
  const more = { draft, wrong, onSet };
  return (
    <>
      <div class="field-grid">
        <Field label="Dataset" wrong={wrong['dataset'] ?? null}>
          {choice(
            draft.dataset,
            datasets.map(({ name }) => name),
            (name) => onSet({ dataset: name, datasetVersion: '', variables: {} }),
          )}
        </Field>
        {draft.dataset !== '' && <DatasetVersionField {...more} />}
        <Field label="Prompt" wrong={wrong['prompt_slug'] ?? null}>
          {choice(
            draft.prompt,
            prompts.map(({ slug }) => slug),
            (prompt) => onSet({ prompt, version: '', variables: {} }),
          )}
        </Field>
        {draft.prompt !== '' && <PromptVersionField {...more} />}
      </div>
      {draft.prompt !== '' && dataset !== undefined && <VariableFields {...more} dataset={dataset} />}
      <div class="field-grid">
        <Text {...more} field="model" label="Model" hint="Leave empty for the model of the prompt version." />
        <Text
          {...more}
          field="temperature"
          label="Temperature"
          hint="From 0 to 2. Leave empty for the model default."
          numeric
        />
        <Text
          {...more}
          field="rows"
          label="Rows"
          hint="Number of first rows, or row IDs separated by commas. Leave empty for all."
        />
        <Text {...more} field="repetitions" label="Repetitions" hint="How often to run each row, up to 32." numeric />
        <Text
          {...more}
          field="maxCost"
          label="Maximum cost (USD)"
          hint="The run stops before a call that may exceed it. Leave empty for no limit."
          numeric
        />
        <Text {...more} field="tags" label="Tags" hint="Such as baseline. Separate tags with commas." />
        <Text {...more} field="name" label="Name" hint="Leave empty for prompt, version and model." />
      </div>
    </>
  );
}

interface TextProps extends RunFieldsProps {
  readonly field: 'model' | 'temperature' | 'rows' | 'repetitions' | 'maxCost' | 'tags' | 'name';
  readonly label: string;
  readonly hint: string;
  readonly numeric?: boolean;
}

function Text({ field, label, hint, numeric = false, draft, wrong, onSet }: TextProps) {
  return (
    <Field label={label} hint={hint} wrong={wrong[field === 'maxCost' ? 'max_cost' : field] ?? null}>
      <input
        class="input"
        autocomplete="off"
        {...(numeric && { inputMode: 'decimal' as const })}
        value={draft[field]}
        onInput={({ currentTarget: { value } }) => onSet({ [field]: value })}
      />
    </Field>
  );
}

function choice(chosen: string, offered: readonly string[], onChoose: (value: string) => void) {
  const all = chosen === '' || offered.includes(chosen) ? offered : [chosen, ...offered];
  return (
    <select class="input" value={chosen} onChange={({ currentTarget: { value } }) => onChoose(value)}>
      <option value="">{all.length === 0 ? 'None yet' : 'Choose'}</option>
      {all.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
