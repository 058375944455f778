import { Button } from '../../parts/button.js';
import { Field } from '../../parts/field.js';
import type { FieldsProps } from './fields-props.js';

/** The aspects that a judge evaluates by. */
export function CriteriaFields({ draft: { criteria }, change, wrong }: FieldsProps) {
  const set = (at: number, changed: Partial<(typeof criteria)[number]>) =>
    change({ criteria: criteria.map((criterion, index) => (index === at ? { ...criterion, ...changed } : criterion)) });
  const add = () =>
    change({ criteria: [...criteria, { key: `criterion_${criteria.length + 1}`, label: '', description: '' }] });
  return (
    <fieldset class="stack">
      <legend>Criteria</legend>
      {criteria.length === 0 && <p class="soft small">No criteria; only the instruction applies.</p>}
      {criteria.map(({ key, label, description }, index) => (
        <div key={index} class="line fields criterion" role="group" aria-label={`Criterion ${index + 1}`}>
          <Field label="Key">
            <input
              class="input mono"
              size={14}
              value={key}
              onInput={(event) => set(index, { key: event.currentTarget.value })}
            />
          </Field>
          <Field label="Label">
            <input
              class="input"
              size={14}
              value={label}
              onInput={(event) => set(index, { label: event.currentTarget.value })}
            />
          </Field>
          <Field label="Description">
            <input
              class="input"
              value={description}
              onInput={(event) => set(index, { description: event.currentTarget.value })}
            />
          </Field>
          <Button
            look="quiet"
            icon="trash"
            label={`Remove criterion ${key}`}
            onClick={() => change({ criteria: criteria.filter((_, other) => other !== index) })}
          />
        </div>
      ))}
      {wrong['criteria'] !== undefined && <p class="bad small">{wrong['criteria']}</p>}
      <div class="line">
        <Button icon="plus" onClick={add}>
          Add criterion
        </Button>
      </div>
    </fieldset>
  );
}
