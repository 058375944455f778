import { useId } from 'preact/hooks';
import { SOURCES, type MappedColumn } from '../../../model/span-mapping.js';
import { Button } from '../../parts/button.js';

interface MappingFieldsProps {
  readonly columns: readonly MappedColumn[];
  /** Columns that the dataset has. */
  readonly known: readonly string[];
  readonly onChange: (columns: readonly MappedColumn[]) => void;
}

/** Which columns rows get, and where each comes from. */
export function MappingFields({ columns, known, onChange }: MappingFieldsProps) {
  const id = useId();
  const set = (at: number, changed: Partial<MappedColumn>) =>
    onChange(columns.map((each, index) => (index === at ? { ...each, ...changed } : each)));
  return (
    <fieldset class="stack">
      <legend>Columns</legend>
      <p class="soft small">
        A source is a field of spans, an attribute or tag (attributes.key, tags.key), or feedback.expected_output: what
        a person expected.
      </p>
      {columns.map(({ column, source }, at) => (
        <div key={at} class="dataset-mapping">
          <input
            class="input"
            aria-label={`Column ${at + 1}`}
            placeholder="Column"
            list={`${id}-columns`}
            autocomplete="off"
            maxLength={200}
            value={column}
            onInput={({ currentTarget: { value } }) => set(at, { column: value })}
          />
          <span class="soft">from</span>
          <input
            class="input"
            aria-label={`Source of column ${at + 1}`}
            placeholder="Source"
            list={`${id}-sources`}
            autocomplete="off"
            maxLength={1_000}
            value={source}
            onInput={({ currentTarget: { value } }) => set(at, { source: value })}
          />
          <Button
            look="quiet"
            icon="trash"
            label={`Leave out column ${at + 1}`}
            onClick={() => onChange(columns.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      <datalist id={`${id}-columns`}>
        {known.map((column) => (
          <option key={column} value={column} />
        ))}
      </datalist>
      <datalist id={`${id}-sources`}>
        {[...new Set(SOURCES)].map((source) => (
          <option key={source} value={source} />
        ))}
      </datalist>
      <p>
        <Button icon="plus" onClick={() => onChange([...columns, { column: '', source: '' }])}>
          Add column
        </Button>
      </p>
    </fieldset>
  );
}
