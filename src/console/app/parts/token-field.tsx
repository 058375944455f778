import { useId, useRef, useState } from 'preact/hooks';
import { announce } from '../state/announce.js';
import { Icon } from './icon.js';

interface TokenFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly wrong?: string | null;
  readonly values: readonly string[];
  /** Values that objects have, to choose from. */
  readonly suggested: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
  /** What is wrong with a value that is about to be added; null: nothing. */
  readonly refuse?: (value: string) => string | null;
}

/** Several texts: entered ones become chips; Backspace in the empty field removes the last. */
export function TokenField(props: TokenFieldProps) {
  const { label, hint, wrong = null, values, suggested, onChange, refuse } = props;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [refused, setRefused] = useState<string | null>(null);
  const add = () => {
    const value = text.trim();
    if (value === '') return;
    const problem = refuse?.(value) ?? null;
    setRefused(problem);
    if (problem !== null) return;
    setText('');
    if (!values.includes(value)) onChange([...values, value]);
  };
  const remove = (value: string) => {
    onChange(values.filter((other) => other !== value));
    announce(`${value} removed`);
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = values.at(-1);
    if (event.key === 'Enter' || (event.key === ',' && text !== '')) {
      event.preventDefault();
      add();
    } else if (event.key === 'Backspace' && text === '' && last !== undefined) remove(last);
  };
  const problem = refused ?? wrong;
  return (
    <div class="labelled">
      <label for={id}>{label}</label>
      <div class="tokens">
        {values.map((value) => (
          <button
            key={value}
            type="button"
            class="chip"
            aria-label={`${label}: ${value}, remove`}
            onClick={() => remove(value)}
          >
            <bdi class="clip">{value}</bdi>
            <Icon name="close" />
          </button>
        ))}
        <input
          ref={input}
          id={id}
          class="input"
          list={`${id}-list`}
          value={text}
          autocomplete="off"
          aria-describedby={`${id}-about`}
          aria-invalid={problem !== null}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setRefused(null);
          }}
          onKeyDown={onKeyDown}
          onBlur={add}
        />
        <datalist id={`${id}-list`}>
          {suggested
            .filter((value) => !values.includes(value))
            .map((value) => (
              <option key={value} value={value} />
            ))}
        </datalist>
      </div>
      <p id={`${id}-about`} class={problem === null ? 'soft small' : 'bad small'}>
        {problem ?? hint}
      </p>
    </div>
  );
}
