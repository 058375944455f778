import { useState } from 'preact/hooks';
import { SCORE_KINDS, type ScoreKind } from '../../../../engine/traces/model/score/score.js';
import type { ScoreDefinitionRead } from '../../../../features/scores/schema.js';
import { definitionOf, draftOf, hasDirection, type DefinitionDraft } from '../../../model/definition-draft.js';
import { KIND_LABELS } from '../../../model/score-draft.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { changedAt } from '../../state/query.js';

interface DefinitionDialogProps {
  /** Null: it is new. */
  readonly current: ScoreDefinitionRead | null;
  /** Names that have a definition. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
}

/** Sets what the scores of a name may be. */
export function DefinitionDialog({ current, taken, onClose }: DefinitionDialogProps) {
  const [name, setName] = useState(current?.name ?? '');
  const [draft, setDraft] = useState(() => draftOf(current));
  const isTaken = current === null && taken.includes(name.trim());
  const change = (changed: Partial<DefinitionDraft>) => setDraft({ ...draft, ...changed });
  const send = async () => {
    const params = { name: name.trim() };
    await call('PUT /projects/:project_id/score-definitions/:name+', { params, body: definitionOf(draft) });
    announce('Definition saved');
    await changedAt('/score-definitions');
    onClose();
  };
  return (
    <Dialog title={current === null ? 'Add a score definition' : 'Edit score definition'} onClose={onClose}>
      <Form
        action="Save definition"
        refused={name.trim() === '' ? 'Enter a name' : isTaken ? 'This name has a definition: edit that' : null}
        onSend={send}
        onCancel={onClose}
      >
        {(wrong) => (
          <>
            <Field label="Name" wrong={isTaken ? 'This name has a definition' : (wrong['name'] ?? null)}>
              <input
                class="input"
                maxLength={128}
                autocomplete="off"
                readOnly={current !== null}
                autofocus={current === null}
                value={name}
                onInput={(event) => setName(event.currentTarget.value)}
              />
            </Field>
            <Choice
              label="Kind"
              hint="Cannot change while there are scores of this name"
              options={SCORE_KINDS.map((one) => [one, KIND_LABELS[one]])}
              chosen={draft.kind}
              onChoose={(kind) => change({ kind: kind as ScoreKind })}
            />
            <RuleFields draft={draft} wrong={wrong} change={change} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

interface RuleFieldsProps {
  readonly draft: DefinitionDraft;
  readonly wrong: Readonly<Record<string, string>>;
  readonly change: (changed: Partial<DefinitionDraft>) => void;
}

/** What values of the kind may be, and mean. */
function RuleFields({ draft, wrong, change }: RuleFieldsProps) {
  const { kind, direction } = draft;
  const text = (key: 'min' | 'max' | 'categories' | 'description') => ({
    class: 'input',
    value: draft[key],
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      change({ [key]: event.currentTarget.value }),
  });
  return (
    <>
      {kind === 'numeric' && (
        <div class="field-grid">
          <Field label="Lowest value (optional)" wrong={wrong['min'] ?? null}>
            <input {...text('min')} inputMode="decimal" autocomplete="off" />
          </Field>
          <Field label="Highest value (optional)" wrong={wrong['max'] ?? null}>
            <input {...text('max')} inputMode="decimal" autocomplete="off" />
          </Field>
        </div>
      )}
      {kind === 'categorical' && (
        <Field
          label="Categories (optional)"
          hint="One per line; leave empty to allow any"
          wrong={wrong['categories'] ?? null}
        >
          <textarea {...text('categories')} rows={4} />
        </Field>
      )}
      {hasDirection(kind) && (
        <Choice
          label="Better"
          hint={kind === 'boolean' ? 'Yes is higher' : undefined}
          options={['', 'higher', 'lower'].map((one) => [one, one === '' ? 'neither' : one])}
          chosen={direction}
          onChoose={(one) => change({ direction: one as DefinitionDraft['direction'] })}
        />
      )}
      <Field label="Description (optional)" wrong={wrong['description'] ?? null}>
        <textarea {...text('description')} rows={2} />
      </Field>
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly hint: string | undefined;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly chosen: string;
  readonly onChoose: (value: string) => void;
}

function Choice({ label, hint, options, chosen, onChoose }: ChoiceProps) {
  return (
    <Field label={label} hint={hint}>
      <select class="input" value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}
