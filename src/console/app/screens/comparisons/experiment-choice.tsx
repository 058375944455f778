import { sideOfTag, type Experiment } from '../../../model/experiments.js';
import { ago } from '../../../model/time.js';
import { Field } from '../../parts/field.js';
import { setQuery } from '../../state/location.js';
import { useExperiments } from '../experiments/data.js';

/** Experiments that can be chosen; others are compared from their own page. */
const LISTED = 200;

interface ExperimentChoiceProps {
  readonly label: string;
  readonly hint: string;
  /** The parameter of the address that it sets. */
  readonly name: string;
  readonly chosen: Experiment | undefined;
  /** The tag that it is chosen by; null: by itself. */
  readonly tag?: string | null;
  /** The other experiment, of whose dataset it is to be. */
  readonly beside?: Experiment;
}

/** Chooses an experiment among the newest. */
export function ExperimentChoice({ label, hint, name, chosen, tag = null, beside }: ExperimentChoiceProps) {
  const asked = { limit: LISTED, ...(beside !== undefined && { dataset: beside.dataset.id }) };
  const listed = useExperiments(asked).data?.experiments ?? [];
  const offered = listed.filter(({ id }) => id !== beside?.id);
  const all = chosen === undefined || offered.some(({ id }) => id === chosen.id) ? offered : [chosen, ...offered];
  // Tags are those of a dataset, which is known of the other one.
  const tagged = beside === undefined ? [] : offered.flatMap((of) => of.tags.map((each) => [each, of.name] as const));
  return (
    <Field label={label} hint={hint}>
      <select
        class="input"
        value={tag === null ? (chosen?.id ?? '') : sideOfTag(tag)}
        onChange={({ currentTarget: { value } }) => setQuery({ [name]: value || null }, { replace: true })}
      >
        <option value="">{all.length === 0 ? 'No experiments yet' : 'Choose an experiment'}</option>
        {tag !== null && !tagged.some(([each]) => each === tag) && <option value={sideOfTag(tag)}>Tag {tag}</option>}
        {tagged.map(([each, of]) => (
          <option key={`tag ${each}`} value={sideOfTag(each)}>
            Tag {each}: {of}
          </option>
        ))}
        {all.map((experiment) => (
          <option key={experiment.id} value={experiment.id}>
            {optionText(experiment)}
          </option>
        ))}
      </select>
    </Field>
  );
}

function optionText({ name, tags, dataset, dataset_version, status, created_at }: Experiment): string {
  const parts = [...tags, `${dataset.name} v${dataset_version}`, ...(status === 'finished' ? [] : [status])];
  return `${name} (${[...parts, ago(created_at)].join(', ')})`;
}
