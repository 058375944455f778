interface SliceFieldsProps {
  readonly columns: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Columns that slices can be made of at once. */
const MOST = 5;
/** Columns that are offered. */
const OFFERED = 50;

/** Columns of the dataset by whose values metrics are shown as well. */
export function SliceFields({ columns, chosen, onChange }: SliceFieldsProps) {
  return (
    <fieldset class="labelled">
      <legend>Slices</legend>
      <div class="chips">
        {columns.slice(0, OFFERED).map((column) => {
          const isChosen = chosen.includes(column);
          return (
            <label key={column} class="chip">
              <input
                type="checkbox"
                checked={isChosen}
                disabled={!isChosen && chosen.length >= MOST}
                onChange={() => onChange(isChosen ? chosen.filter((one) => one !== column) : [...chosen, column])}
              />
              <bdi class="clip">{column}</bdi>
            </label>
          );
        })}
      </div>
      <p class="soft small">
        Optional: metrics are also shown for each value of up to {MOST} columns, such as the language. Slices decide
        nothing.
      </p>
    </fieldset>
  );
}
