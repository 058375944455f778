import { useId } from 'preact/hooks';
import { place, setQuery } from '../state/location.js';

interface ChoiceProps {
  readonly label: string;
  /** The parameter of the address that it sets. */
  readonly name: string;
  /** Values with what they are called. */
  readonly options: readonly (readonly [value: string, label: string])[];
  /** What it is called when none is chosen. */
  readonly any?: string;
  /** Whether the same page of a list is shown, whatever is chosen. */
  readonly keepsPage?: boolean;
}

/** A choice of a view that stands in its address. One that the address has and the options do not is shown, too. */
export function Choice({ label, name, options, any = 'any', keepsPage = false }: ChoiceProps) {
  const id = useId();
  const chosen = place.value.query.get(name) ?? '';
  const known = chosen === '' || options.some(([value]) => value === chosen);
  return (
    <span class="line">
      <label for={id} class="soft">
        {label}
      </label>
      <select
        id={id}
        class="input"
        value={chosen}
        onChange={(event) =>
          setQuery({ [name]: event.currentTarget.value || null, ...(!keepsPage && { offset: null }) })
        }
      >
        <option value="">{any}</option>
        {!known && <option value={chosen}>{chosen}</option>}
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </span>
  );
}
