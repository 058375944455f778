import type { Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ScoreKind } from '../../../../engine/traces/model/score/score.js';
import type { ScoreDefinitionRead, ScoreRead } from '../../../../features/scores/schema.js';
import { kindsOf, KIND_LABELS, optionsOf, rulesOf, valueIn } from '../../../model/score-draft.js';

import { scoreText } from '../../../model/format.js';
import { wrongFields } from '../../../model/wrong-fields.js';
import { Field } from '../../parts/field.js';
import { When } from '../../parts/figures.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { ApiError, call } from '../../state/api.js';
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
  const [name, setName] = useState(last.peek());
  const [entered, setEntered] = useState<string | null>(null);
  const [commented, setCommented] = useState<string | null>(null);
  const [chosenKind, setKind] = useState<ScoreKind | null>(null);
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const definition = defined.find((one) => one.name === name.trim());
  const before = own.find((one) => one.name === name.trim());
  const text =
    entered ??
    (before === undefined ? '' : typeof before.value === 'number' ? String(before.value) : scoreText(before.value));
  const comment = commented ?? before?.comment ?? '';
  const kinds = kindsOf(text);
  const kind = definition?.kind ?? kinds.find((one) => one === chosenKind) ?? kinds[0];
  const box = useFirstFocus(wrong);
  const send = async () => {
    const body = { entity_type: target.type, entity_id: target.id, name, source: 'human' } as const;
    setWrong({});
    try {
      await call('POST /scores', {
        body: { ...body, value: valueIn(text, kind ?? 'text'), ...(comment.trim() !== '' && { comment }) },
      });
    } catch (error) {
      if (error instanceof ApiError) setWrong(wrongFields(error.problem.errors));
      throw error;
    }
    last.value = name.trim();
    announce(`Score saved: ${name.trim()}`);
    onClose();
    await Promise.all([scoresChanged(), changedAt('/score-definitions')]);
  };
  const refused = name.trim() === '' ? 'Enter a name' : text.trim() === '' ? 'Enter a value' : null;
  return (
    <div ref={box}>
      <Form action="Save score" icon="score" refused={refused} onSend={send} onCancel={onClose}>
        <Field
          label="Name"
          hint={definition === undefined ? newNameHint(name) : (definition.description ?? KIND_LABELS[definition.kind])}
          wrong={wrong['name'] ?? null}
        >
          <input
            class="input"
            list="score-names"
            autocomplete="off"
            spellcheck={false}
            maxLength={128}
            data-first={name === ''}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <datalist id="score-names">
          {defined.map((one) => (
            <option key={one.name} value={one.name} label={rulesOf(one)} />
          ))}
        </datalist>
        <ValueField definition={definition} text={text} wrong={wrong['value'] ?? null} onChange={setEntered} />
        {definition === undefined && kinds.length > 1 && kind !== undefined && (
          <Options
            label="Save as"
            options={kinds.map((one) => [one, KIND_LABELS[one]])}
            chosen={kind}
            onChoose={(one) => setKind(one as ScoreKind)}
          />
        )}
        <Field label="Comment (optional)" hint="Shift+Enter for a new line" wrong={wrong['comment'] ?? null}>
          <textarea
            class="input"
            rows={2}
            value={comment}
            onInput={(event) => setCommented(event.currentTarget.value)}
            onKeyDown={sendOnEnter}
          />
        </Field>
        {before !== undefined && (
          <p class="soft small">
            Replaces your score from <When at={before.created_at} />.
          </p>
        )}
      </Form>
    </div>
  );
}

function newNameHint(name: string): string {
  return name.trim() === ''
    ? 'Choose a score of this project, or enter a new name'
    : 'New: the value decides what it is';
}

interface ValueFieldProps {
  /** Undefined: the name is new. */
  readonly definition: ScoreDefinitionRead | undefined;
  readonly text: string;
  readonly wrong: string | null;
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

/** The focus begins where the first thing is to be said, and goes to what the server refused. */
function useFirstFocus(wrong: unknown) {
  const box = useRef<HTMLDivElement>(null);
  const focus = (selector: string) => box.current?.querySelector<HTMLElement>(selector)?.focus();
  useLayoutEffect(() => {
    // The dialog may open only now, and takes the focus then.
    requestAnimationFrame(() => focus('[data-first="true"]'));
  }, []);
  useEffect(() => focus('[aria-invalid="true"]'), [wrong]);
  return box;
}
