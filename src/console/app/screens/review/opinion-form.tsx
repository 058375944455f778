import type { RefObject } from 'preact';
import type { Criterion } from '../../../../features/judges/judge.js';
import type { CriterionOpinion, Opinion } from '../../../model/review.js';
import { Button } from '../../parts/button.js';
import { Field } from '../../parts/field.js';

export interface OpinionWords {
  readonly good: string;
  readonly bad: string;
  /** What may be expected instead; null: nothing. */
  readonly expected: {
    readonly label: string;
    readonly hint?: string;
    /** Whether it is a number, and asked for only where the opinion is bad. */
    readonly score: boolean;
  } | null;
  /** Which may be spoken of one by one where the opinion is bad. */
  readonly criteria?: readonly Pick<Criterion, 'key' | 'label'>[];
}

interface OpinionFormProps {
  readonly form: RefObject<HTMLFormElement | null>;
  readonly words: OpinionWords;
  readonly opinion: Opinion;
  readonly busy: boolean;
  readonly onChange: (change: Partial<Opinion>) => void;
  readonly onSend: () => void;
}

/** Good or bad, why, and what was expected. */
export function OpinionForm({ form, words, opinion, busy, onChange, onSend }: OpinionFormProps) {
  const { good, reason, expected, stored } = opinion;
  const asked = words.expected !== null && (!words.expected.score || good === false) ? words.expected : null;
  return (
    <form
      ref={form}
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <div class="line">
        <Button
          icon="thumbs-up"
          changes="feedback:write"
          pressed={good === true}
          onClick={() => onChange({ good: true })}
        >
          {words.good} <kbd>+</kbd>
        </Button>
        <Button
          icon="thumbs-down"
          changes="feedback:write"
          pressed={good === false}
          onClick={() => onChange({ good: false })}
        >
          {words.bad} <kbd>-</kbd>
        </Button>
        {stored && <span class="badge good">saved</span>}
      </div>
      <Field label="Why (optional)">
        <textarea
          class="input"
          maxLength={32_768}
          value={reason}
          onInput={(event) => onChange({ reason: event.currentTarget.value })}
          onKeyDown={leaveOnEscape}
        />
      </Field>
      {asked !== null && (
        <Field label={asked.label} {...(asked.hint !== undefined && { hint: asked.hint })}>
          {asked.score ? (
            <input
              class="input"
              inputMode="decimal"
              size={8}
              value={expected}
              onInput={(event) => onChange({ expected: event.currentTarget.value })}
            />
          ) : (
            <textarea
              class="input"
              value={expected}
              onInput={(event) => onChange({ expected: event.currentTarget.value })}
              onKeyDown={leaveOnEscape}
            />
          )}
        </Field>
      )}
      {good === false && words.criteria !== undefined && words.criteria.length > 0 && (
        <CriteriaFields
          criteria={words.criteria}
          said={opinion.criteria ?? {}}
          onChange={(criteria) => onChange({ criteria })}
        />
      )}
      <div class="line">
        <Button
          type="submit"
          look="main"
          changes="feedback:write"
          busy={busy}
          refused={good === null ? 'Choose one of the two first' : null}
        >
          Save and next <kbd>Enter</kbd>
        </Button>
        <span class="soft small">
          In a field: <kbd>Ctrl+Enter</kbd> to save, <kbd>Esc</kbd> to exit
        </span>
      </div>
    </form>
  );
}

interface CriteriaFieldsProps {
  readonly criteria: readonly Pick<Criterion, 'key' | 'label'>[];
  readonly said: Readonly<Record<string, CriterionOpinion>>;
  readonly onChange: (said: Readonly<Record<string, CriterionOpinion>>) => void;
}

/** What each criterion should have got, and why: closed until someone wants to be that exact. */
function CriteriaFields({ criteria, said, onChange }: CriteriaFieldsProps) {
  return (
    <details open={Object.keys(said).length > 0}>
      <summary>By criterion (optional)</summary>
      <div class="stack">
        {criteria.map(({ key, label }) => {
          const own = Object.hasOwn(said, key) ? said[key] : undefined;
          const { score = '', reason = '' } = own ?? {};
          const change = (part: Partial<CriterionOpinion>) => onChange({ ...said, [key]: { score, reason, ...part } });
          return (
            <fieldset key={key} class="line fields">
              <legend>
                <bdi>{label}</bdi>
              </legend>
              <Field label="Score">
                <input
                  class="input"
                  inputMode="decimal"
                  size={8}
                  value={score}
                  onInput={(event) => change({ score: event.currentTarget.value })}
                />
              </Field>
              <Field label="Why">
                <input
                  class="input"
                  maxLength={32_768}
                  value={reason}
                  onInput={(event) => change({ reason: event.currentTarget.value })}
                />
              </Field>
            </fieldset>
          );
        })}
      </div>
    </details>
  );
}

/** Single keys work again outside of a field. */
function leaveOnEscape(event: KeyboardEvent): void {
  if (event.key === 'Escape') (event.currentTarget as HTMLElement).blur();
}
