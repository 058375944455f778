import { useRef } from 'preact/hooks';
import { DRAFT_ROLES, isPlace, variablesOf, type Draft } from '../../../model/playground.js';
import { PLACE } from '../../../model/prompt-version.js';
import { Button } from '../../parts/button.js';
import { Field } from '../../parts/field.js';

interface EditorProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

/** Messages, and the variables that are found in them. */
export function Editor({ draft, onChange }: EditorProps) {
  const { messages, promptAt } = draft;
  const list = useRef<HTMLDivElement>(null);
  const set = (index: number, change: Partial<(typeof messages)[number]>) =>
    onChange({ ...draft, messages: messages.map((one, at) => (at === index ? { ...one, ...change } : one)) });
  const focus = (index: number) =>
    requestAnimationFrame(() => list.current?.querySelectorAll('textarea')[index]?.focus());
  const add = () => {
    const role = messages.at(-1)?.role === 'user' ? 'assistant' : 'user';
    onChange({ ...draft, messages: [...messages, { role, content: '' }] });
    focus(messages.length);
  };
  const remove = (index: number) => {
    const at = promptAt === null || promptAt === index ? null : promptAt - (promptAt > index ? 1 : 0);
    onChange({ ...draft, messages: messages.filter((_, other) => other !== index), promptAt: at });
    focus(Math.min(index, messages.length - 2));
  };
  return (
    <div class="stack">
      <div class="stack" ref={list}>
        {messages.map(({ role, content }, index) => (
          <fieldset key={index} class="pg-message">
            <legend class="unseen">Message {index + 1}</legend>
            <div class="line apart">
              <select
                class="input"
                aria-label={`Role of message ${index + 1}`}
                value={role}
                onChange={({ currentTarget: { value } }) =>
                  set(index, { role: DRAFT_ROLES.find((each) => each === value) ?? role })
                }
              >
                {DRAFT_ROLES.map((each) => (
                  <option key={each} value={each}>
                    {each === PLACE ? 'placeholder for messages' : each}
                  </option>
                ))}
              </select>
              <span class="line">
                {promptAt === index && <span class="badge">prompt</span>}
                <Button
                  look="quiet"
                  icon="trash"
                  label={`Remove message ${index + 1}`}
                  refused={messages.length === 1 ? 'A conversation needs at least one message' : null}
                  onClick={() => remove(index)}
                />
              </span>
            </div>
            <textarea
              class="input pg-text"
              dir="auto"
              rows={rowsOf(content, role === PLACE ? 1 : 3)}
              aria-label={role === PLACE ? `Name of placeholder ${index + 1}` : `Text of message ${index + 1}`}
              value={content}
              onInput={({ currentTarget: { value } }) => set(index, { content: value })}
            />
          </fieldset>
        ))}
      </div>
      <div>
        <Button icon="plus" onClick={add}>
          Add message
        </Button>
      </div>
      <Variables draft={draft} onChange={onChange} />
    </div>
  );
}

function Variables({ draft, onChange }: EditorProps) {
  const names = variablesOf(draft);
  if (names.length === 0) return null;
  const set = (name: string, value: string) => onChange({ ...draft, values: new Map(draft.values).set(name, value) });
  const empty = names.filter((name) => (draft.values.get(name) ?? '') === '' && !isPlace(draft, name));
  return (
    <fieldset class="stack">
      <legend>Variables</legend>
      {names.slice(0, MAX_FIELDS).map((name) => (
        <Field
          key={name}
          label={name}
          {...(isPlace(draft, name) && { hint: 'A JSON list of messages, or a text of the user.' })}
        >
          <textarea
            class="input pg-value"
            dir="auto"
            rows={rowsOf(draft.values.get(name) ?? '', 1)}
            value={draft.values.get(name) ?? ''}
            onInput={({ currentTarget: { value } }) => set(name, value)}
          />
        </Field>
      ))}
      {names.length > MAX_FIELDS && (
        <p class="soft small">
          Showing {MAX_FIELDS} of {names.length} variables; write the others directly into the messages.
        </p>
      )}
      {empty.length > 0 && (
        <p class="soft small">
          {empty.length === 1 ? 'One variable is' : `${empty.length} variables are`} empty and sent as written, such as{' '}
          <code>{`{{${empty[0] ?? ''}}}`}</code>.
        </p>
      )}
    </fieldset>
  );
}

const MAX_FIELDS = 50;

/** Where the browser does not fit text areas to their texts itself. */
function rowsOf(text: string, least = 3): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1 && lines < 24; at = text.indexOf('\n', at + 1)) lines += 1;
  return Math.max(least, Math.min(24, Math.max(lines, Math.ceil(text.length / 90))));
}
