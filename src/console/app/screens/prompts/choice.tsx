import { place, setQuery } from '../../state/location.js';

interface ChoiceProps {
  readonly label: string;
  /** The parameter of the API that it sets. */
  readonly parameter: string;
  /** Words for any value. */
  readonly any: string;
  readonly values: readonly (readonly [value: string, words: string])[];
}

/** A filter of a list with few values. */
export function Choice({ label, parameter, any, values }: ChoiceProps) {
  const chosen = place.value.query.get(parameter) ?? '';
  const known = chosen === '' || values.some(([value]) => value === chosen);
  return (
    <label class="line choice">
      <span class="soft">{label}</span>
      <select
        class="input"
        value={chosen}
        onChange={({ currentTarget: { value } }) =>
          setQuery({ [parameter]: value === '' ? null : value, offset: null })
        }
      >
        <option value="">{any}</option>
        {values.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
        {!known && <option value={chosen}>{chosen}</option>}
      </select>
    </label>
  );
}
