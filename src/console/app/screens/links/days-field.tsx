import { Field } from '../../parts/field.js';

interface DaysFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly autofocus?: boolean;
}

/** For how many days a link works. */
export function DaysField({ label, value, onValue, autofocus = false }: DaysFieldProps) {
  return (
    <Field label={label} hint="1 to 365">
      <input
        class="input"
        type="number"
        min="1"
        max="365"
        required
        autofocus={autofocus}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </Field>
  );
}
