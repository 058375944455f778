import { useId } from 'preact/hooks';

interface OptionsProps {
  readonly label: string;
  /** Values with what they are called. */
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly chosen: string;
  /** Whether it has the focus at first. */
  readonly isFirst?: boolean;
  readonly wrong?: string | null;
  readonly onChoose: (value: string) => void;
}

/** The options that have a digit of their own. */
const DIGITS = 9;

/** One of several, as buttons: by digit, by arrow or by pointer. Enter sends the form. */
export function Options({ label, options, chosen, isFirst = false, wrong = null, onChoose }: OptionsProps) {
  const id = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    const option =
      /^[1-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey
        ? options[Number(event.key) - 1]
        : undefined;
    if (option === undefined) return;
    event.preventDefault();
    onChoose(option[0]);
    (event.currentTarget as HTMLElement).querySelectorAll('input')[options.indexOf(option)]?.focus();
  };
  return (
    <fieldset class="labelled" onKeyDown={onKeyDown} {...(wrong !== null && { 'aria-describedby': `${id}-wrong` })}>
      <legend>{label}</legend>
      <div class="chips">
        {options.map(([value, text], index) => (
          <label key={value} class="button option">
            <input
              type="radio"
              class="unseen"
              name={id}
              checked={value === chosen}
              data-first={isFirst && (options.some(([one]) => one === chosen) ? value === chosen : index === 0)}
              {...(wrong !== null && { 'aria-invalid': true })}
              onChange={() => onChoose(value)}
            />
            <bdi class="clip">{text}</bdi>
            {index < DIGITS && <kbd aria-hidden="true">{index + 1}</kbd>}
          </label>
        ))}
      </div>
      {wrong !== null && (
        <p id={`${id}-wrong`} class="bad small">
          {wrong}
        </p>
      )}
    </fieldset>
  );
}
