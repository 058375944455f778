import { useId } from 'preact/hooks';
import { Field } from './field.js';

interface TagFieldProps {
  readonly hint: string;
  readonly tag: string;
  /** Tags that there are already. */
  readonly known?: readonly string[];
  /** Whether it is the first field of a dialog. */
  readonly autofocus?: boolean;
  readonly onInput: (tag: string) => void;
}

/** The name of a tag: one that there is, or a new one. */
export function TagField({ hint, tag, known = [], autofocus = false, onInput }: TagFieldProps) {
  const list = useId();
  return (
    <>
      <Field label="Tag" hint={hint}>
        <input
          class="input"
          list={list}
          autofocus={autofocus}
          autocomplete="off"
          maxLength={64}
          value={tag}
          onInput={({ currentTarget: { value } }) => onInput(value.trim())}
        />
      </Field>
      <datalist id={list}>
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
