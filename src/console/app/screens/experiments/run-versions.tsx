import { TAGGED } from '../../../model/experiment-run.js';
import { namesIn } from '../../../model/prompt-version.js';
import { Field } from '../../parts/field.js';
import { useTags as useDatasetTags, useVersions, type Dataset } from '../datasets/data.js';
import { LATEST, useTagHistory, useTags, useVersion } from '../prompts/versions.js';
import type { RunFieldsProps } from './run-fields-props.js';

/** Versions of a prompt that can be chosen. */
const OFFERED = 200;

type Option = readonly [value: string, text: string];

function options(offered: readonly Option[]) {
  return offered.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
}

/** The version of the dataset: the latest, or one by tag or number. */
export function DatasetVersionField({ draft: { dataset, datasetVersion }, wrong, onSet }: RunFieldsProps) {
  const versions = useVersions(dataset).data ?? [];
  const tags = useDatasetTags(dataset).data ?? [];
  const offered: Option[] = [
    ...tags
      .filter(({ tag }) => tag !== LATEST)
      .map(({ tag, version_number: number }): Option => [tag, `${tag} (version ${number})`]),
    ...versions.map(({ version_number: number }): Option => [String(number), `Version ${number}`]),
  ];
  return (
    <Field label="Dataset version" wrong={wrong['dataset_version'] ?? null}>
      <select
        class="input"
        value={datasetVersion}
        onChange={({ currentTarget: { value } }) => onSet({ datasetVersion: value, variables: {} })}
      >
        {options([['', 'Latest'], ...offered])}
      </select>
    </Field>
  );
}

/** The version of the prompt: the latest, or one by tag or number. */
export function PromptVersionField({ draft: { prompt, version }, wrong, onSet }: RunFieldsProps) {
  const versions = useTagHistory(prompt, LATEST, 0, OFFERED).data ?? [];
  const tags = useTags(prompt).data ?? [];
  const offered: Option[] = [
    ...tags
      .filter(({ tag }) => tag !== LATEST)
      .map((one): Option => [TAGGED + one.tag, `${one.tag} (version ${one.version})`]),
    ...versions.map((one): Option => [String(one.version), `Version ${one.version}`]),
  ];
  return (
    <Field label="Prompt version" wrong={wrong['prompt_version'] ?? wrong['prompt_tag'] ?? null}>
      <select
        class="input"
        value={version}
        onChange={({ currentTarget: { value } }) => onSet({ version: value, variables: {} })}
      >
        {options([['', 'Latest'], ...offered])}
      </select>
    </Field>
  );
}

/** The column that fills each variable of the prompt. */
export function VariableFields({ draft, wrong, onSet, dataset }: RunFieldsProps & { readonly dataset: Dataset }) {
  const tags = useTags(draft.prompt).data ?? [];
  const tag = draft.version === '' ? LATEST : draft.version.replace(TAGGED, '');
  const number =
    tags.find((one) => one.tag === tag && !/^\d+$/.test(draft.version))?.version ?? (Number(draft.version) || null);
  const version = useVersion(draft.prompt, number).data;
  const columns = useColumns(dataset, draft.datasetVersion);
  if (version === undefined) return null;
  const { variables, places } = namesIn(version);
  if (variables.length + places.length === 0)
    return (
      <p class="soft">
        The prompt has no variables: it is sent{version.messages === undefined && ' as the system message'}, and the
        input columns of the row as the user message.
      </p>
    );
  return (
    <fieldset class="labelled">
      <legend>Variables</legend>
      <div class="field-grid">
        {[...variables, ...places].map((variable) => {
          const fits = columns.includes(variable) && dataset.roles[variable] !== 'expected';
          return (
            <Field key={variable} label={places.includes(variable) ? `Messages ${variable}` : `{{${variable}}}`}>
              <select
                class="input"
                value={draft.variables[variable] ?? (fits ? variable : '')}
                onChange={({ currentTarget: { value } }) =>
                  onSet({ variables: { ...draft.variables, [variable]: value === variable && fits ? '' : value } })
                }
              >
                {!fits && <option value="">Choose a column</option>}
                {columns.map((column) => (
                  <option key={column} value={column}>
                    {column}
                    {dataset.roles[column] === 'expected' && ' (expected)'}
                  </option>
                ))}
              </select>
            </Field>
          );
        })}
      </div>
      {wrong['variables'] !== undefined && <p class="bad small">{wrong['variables']}</p>}
    </fieldset>
  );
}

/** Columns of the version that is chosen by tag or number, or of the latest. */
function useColumns({ name, latest_version }: Dataset, chosen: string): readonly string[] {
  const versions = useVersions(name).data ?? [];
  const tags = useDatasetTags(name).data ?? [];
  const number = tags.find(({ tag }) => tag === chosen)?.version_number ?? Number(chosen);
  return (versions.find((one) => one.version_number === number) ?? latest_version)?.columns ?? [];
}
