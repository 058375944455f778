import { spanList } from '../../../../engine/traces/model/list/definitions.js';
import { Field } from '../../parts/field.js';

export interface Sample {
  /** As it is entered; empty: all spans. */
  readonly count: string;
  readonly seed: string;
  /** A field of spans; empty: none. */
  readonly by: string;
}

export const NO_SAMPLE: Sample = { count: '', seed: new Date().toISOString().slice(0, 10), by: '' };

interface SampleFieldsProps {
  readonly sample: Sample;
  readonly onChange: (sample: Sample) => void;
}

/** How many of the spans that were found become rows, and which. */
export function SampleFields({ sample, onChange }: SampleFieldsProps) {
  return (
    <div class="field-grid">
      <Field label="Sample" hint="Empty: all that the filters find, up to 10,000.">
        <input
          class="input"
          inputmode="numeric"
          placeholder="All"
          autocomplete="off"
          maxLength={5}
          value={sample.count}
          onInput={({ currentTarget: { value } }) => onChange({ ...sample, count: value.trim() })}
        />
      </Field>
      {sample.count !== '' && (
        <Field label="Seed" hint="The same seed chooses the same spans.">
          <input
            class="input"
            autocomplete="off"
            maxLength={200}
            value={sample.seed}
            onInput={({ currentTarget: { value } }) => onChange({ ...sample, seed: value })}
          />
        </Field>
      )}
      {sample.count !== '' && (
        <Field label="Equal shares by" hint="Each of its values gets its share of the sample.">
          <select
            class="input"
            value={sample.by}
            onChange={({ currentTarget: { value } }) => onChange({ ...sample, by: value })}
          >
            <option value="">None</option>
            {spanList.groups.map((field) => (
              <option key={field} value={field}>
                {field}
              </option>
            ))}
          </select>
        </Field>
      )}
    </div>
  );
}
