import { Field } from '../../parts/field.js';

export interface NamedDraft {
  readonly name: string;
  readonly description: string;
}

interface NameFieldsProps {
  readonly draft: NamedDraft;
  /** What to know about the name. */
  readonly hint: string;
  /** What the server has against single fields. */
  readonly wrong: Readonly<Record<string, string>>;
  readonly onSet: (draft: NamedDraft) => void;
}

/** What a dataset is called, and what it is. */
export function NameFields({ draft, hint, wrong, onSet }: NameFieldsProps) {
  return (
    <>
      <Field label="Name" hint={hint} wrong={wrong['name'] ?? null}>
        <input
          class="input"
          autofocus
          autocomplete="off"
          maxLength={128}
          value={draft.name}
          onInput={({ currentTarget: { value } }) => onSet({ ...draft, name: value })}
        />
      </Field>
      <Field
        label="Description"
        hint="Optional: what its rows are, and what they test."
        wrong={wrong['description'] ?? null}
      >
        <textarea
          class="input"
          maxLength={10_000}
          value={draft.description}
          onInput={({ currentTarget: { value } }) => onSet({ ...draft, description: value })}
        />
      </Field>
    </>
  );
}
