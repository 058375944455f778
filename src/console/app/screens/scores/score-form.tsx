import type { Signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ScoreKind } from '../../../../engine/traces/model/score/score.js';
import type { ScoreDefinitionRead, ScoreRead } from '../../../../features/scores/schema.js';
import { enteredAs, kindsOf, KIND_LABELS, optionsOf, rulesOf, valueIn } from '../../../model/score-draft.js';

import { Field } from '../../parts/field.js';
import { When } from '../../parts/figures.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { changedAt } from '../../state/query.js';
import { scoresChanged, type Target } from './data.js';
import { Options } from './options.js';

interface ScoreFormProps {
  readonly target: Target;
  readonly defined: readonly ScoreDefinitionRead[];
  readonly own: readonly ScoreRead[];
  /** The name that was used last. */
  readonly last: Signal<string>;
  readonly onClose: () => void;
}

/** A name, a value as its definition asks for it, and why. A new name becomes what its first value is. */
export function ScoreForm({ target, defined, own, last, onClose }: ScoreFormProps) {
  const { name, text, comment, kinds, kind, definition, before, change } = useDraft({ defined, own, last });
  const box = useFirstFocus();
  const send = async () => {
    const about = { entity_type: target.type, entity_id: target.id, name, source: 'human' } as const;
    const value = valueIn(text, kind ?? 'text');
    await call('POST /scores', { body: { ...about, value, ...(comment.trim() !== '' && { comment }) } });
    last.value = name.trim();
    announce(`Score saved: ${name.trim()}`);
    onClose();
    await Promise.all([scoresChanged(), changedAt('/score-definitions')]);
  };
  const refused = name.trim() === '' ? 'Enter a name' : text.trim() === '' ? 'Enter a value' : null;
  return (
    <div ref={box}>
      <Form action="Save score" icon="score" changes="scores:write" refused={refused} onSend={send} onCancel={onClose}>
        {(wrong) => (
          <>
            <NameField
              defined={defined}
              definition={definition}
              name={name}
              wrong={wrong['name'] ?? null}
              onChange={(name) => change({ name })}
            />
            <ValueField
              definition={definition}
              text={text}
              wrong={wrong['value'] ?? null}
              onChange={(text) => change({ text })}
            />
            {definition === undefined && kinds.length > 1 && kind !== undefined && (
              <Options
                label="Save as"
                options={kinds.map((one) => [one, KIND_LABELS[one]])}
                chosen={kind}
                onChoose={(one) => change({ kind: one as ScoreKind })}
              />
            )}
            <Field label="Comment (optional)" hint="Shift+Enter for a new line" wrong={wrong['comment'] ?? null}>
              <textarea
                class="input"
                rows={2}
                value={comment}
                onInput={(event) => change({ comment: event.currentTarget.value })}
                onKeyDown={sendOnEnter}
              />
            </Field>
            {before !== undefined && (
              <p class="soft small">
                Replaces your score from <When at={before.created_at} />.
              </p>
            )}
          </>
        )}
      </Form>
    </div>
  );
}

interface Draft {
  readonly name: string;
  /** Null, as for the comment: not touched, so that it is what the person said before. */
  readonly text: string | null;
  readonly comment: string | null;
  /** What a new name is to be; null: what its value looks like. */
  readonly kind: ScoreKind | null;
}

/** What is entered, beginning with the last name and what the same person said under it before. */
function useDraft({ defined, own, last }: Pick<ScoreFormProps, 'defined' | 'own' | 'last'>) {
  const [draft, setDraft] = useState<Draft>({ name: last.peek(), text: null, comment: null, kind: null });
  const name = draft.name.trim();
  const definition = defined.find((one) => one.name === name);
  const before = own.find((one) => one.name === name);
  const text = draft.text ?? (before === undefined ? '' : enteredAs(before.value));
  const kinds = kindsOf(text);
  return {
    name: draft.name,
    text,
    comment: draft.comment ?? before?.comment ?? '',
    kinds,
    kind: definition?.kind ?? kinds.find((one) => one === draft.kind) ?? kinds[0],
    definition,
    before,
    change: (changed: Partial<Draft>) => setDraft({ ...draft, ...changed }),
  };
}

interface NameFieldProps extends Pick<ScoreFormProps, 'defined'> {
  /** Undefined: the name is new. */
  readonly definition: ScoreDefinitionRead | undefined;
  readonly name: string;
  readonly wrong: string | null;
  readonly onChange: (name: string) => void;
}

function NameField({ defined, definition, name, wrong, onChange }: NameFieldProps) {
  const hint = definition === undefined ? newNameHint(name) : (definition.description ?? KIND_LABELS[definition.kind]);
  return (
    <>
      <Field label="Name" hint={hint} wrong={wrong}>
        <input
          class="input"
          list="score-names"
          autocomplete="off"
          spellcheck={false}
          maxLength={128}
          data-first={definition === undefined}
          value={name}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </Field>
      <datalist id="score-names">
        {defined.map((one) => (
          <option key={one.name} value={one.name} label={rulesOf(one)} />
        ))}
      </datalist>
    </>
  );
}

function newNameHint(name: string): string {
  return name.trim() === ''
    ? 'Choose a score of this project, or enter a new name'
    : 'New: the value decides what it is';
}

interface ValueFieldProps extends Pick<NameFieldProps, 'definition' | 'wrong'> {
  readonly text: string;
  readonly onChange: (text: string) => void;
}

/** The value: chosen among the options of the definition, else entered. */
function ValueField({ definition, text, wrong, onChange }: ValueFieldProps) {
  const options = definition === undefined ? null : optionsOf(definition);
  if (options !== null)
    return (
      <Options
        label="Value"
        isFirst
        options={options.map((option) => [option, option])}
        chosen={text}
        wrong={wrong}
        onChoose={onChange}
      />
    );
  const shared = {
    class: 'input',
    value: text,
    'data-first': definition !== undefined,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => onChange(event.currentTarget.value),
  };
  if (definition?.kind === 'text')
    return (
      <Field label="Value" wrong={wrong} hint="Shift+Enter for a new line">
        <textarea {...shared} rows={3} onKeyDown={sendOnEnter} />
      </Field>
    );
  const hint = definition === undefined ? 'A number, yes or no, or a category' : rulesOf(definition);
  return (
    <Field label="Value" wrong={wrong} hint={hint}>
      <input {...shared} autocomplete="off" {...(definition?.kind === 'numeric' && { inputMode: 'decimal' })} />
    </Field>
  );
}

/** Enter sends from a text of several lines as from all other fields. */
function sendOnEnter(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
}

/** The focus begins where the first thing is to be said. */
function useFirstFocus() {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // The dialog may open only now, and takes the focus then.
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>('[data-first="true"]')?.focus());
  }, []);
  return box;
}
