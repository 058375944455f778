import { useState } from 'preact/hooks';
import { SCORE_KINDS, type ScoreKind } from '../../../../engine/traces/model/score/score.js';
import type { ScoreDefinitionRead } from '../../../../features/scores/schema.js';
import { definitionOf, draftOf, hasDirection, type DefinitionDraft } from '../../../model/definition-draft.js';
import { KIND_LABELS } from '../../../model/score-draft.js';
import { wrongFields } from '../../../model/wrong-fields.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { ApiError, call } from '../../state/api.js';
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
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const { kind, direction } = draft;
  const isTaken = current === null && taken.includes(name.trim());
  const change = (changed: Partial<DefinitionDraft>) => setDraft({ ...draft, ...changed });
  const send = async () => {
    setWrong({});
    try {
      const path = 'PUT /projects/:project_id/score-definitions/:name+';
      await call(path, { params: { name: name.trim() }, body: definitionOf(draft) });
    } catch (error) {
      if (error instanceof ApiError) setWrong(wrongFields(error.problem.errors));
      throw error;
    }
    announce('Definition saved');
    await changedAt('/score-definitions');
    onClose();
  };
  const text = (key: 'min' | 'max' | 'categories' | 'description') => ({
    class: 'input',
    value: draft[key],
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      change({ [key]: event.currentTarget.value }),
  });
  return (
    <Dialog title={current === null ? 'Add a score definition' : 'Edit score definition'} onClose={onClose}>
      <Form
        action="Save definition"
        refused={name.trim() === '' ? 'Enter a name' : isTaken ? 'This name has a definition: edit that' : null}
        onSend={send}
        onCancel={onClose}
      >
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
        <Field label="Kind" hint="Cannot change while there are scores of this name" wrong={wrong['kind'] ?? null}>
          <select
            class="input"
            value={kind}
            onChange={(event) => change({ kind: event.currentTarget.value as ScoreKind })}
          >
            {SCORE_KINDS.map((one) => (
              <option key={one} value={one}>
                {KIND_LABELS[one]}
              </option>
            ))}
          </select>
        </Field>
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
          <Field
            label="Better"
            hint={kind === 'boolean' ? 'Yes is higher' : undefined}
            wrong={wrong['direction'] ?? null}
          >
            <select
              class="input"
              value={direction}
              onChange={(event) => change({ direction: event.currentTarget.value as DefinitionDraft['direction'] })}
            >
              <option value="">neither</option>
              <option value="higher">higher</option>
              <option value="lower">lower</option>
            </select>
          </Field>
        )}
        <Field label="Description (optional)" wrong={wrong['description'] ?? null}>
          <textarea {...text('description')} rows={2} />
        </Field>
      </Form>
    </Dialog>
  );
}
