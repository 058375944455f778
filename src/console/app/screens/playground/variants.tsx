import { useEffect, useState } from 'preact/hooks';
import type { PlaygroundEstimate, PlaygroundInput } from '../../../../features/playground/schema.js';
import { count, money, moneyInFull } from '../../../model/format.js';
import { MAX_VARIANTS, type Variant } from '../../../model/playground.js';
import { Button } from '../../parts/button.js';
import { call } from '../../state/api.js';

interface VariantsProps {
  readonly variants: readonly Variant[];
  /** The model that is asked when a variant names none; null: there is none. */
  readonly defaultModel: string | null;
  /** What each variant sends; null: nothing can be sent now. */
  readonly inputs: readonly (PlaygroundInput | null)[];
  readonly onChange: (variants: readonly Variant[]) => void;
}

/** Settings that are tried side by side, each with what it will come to. */
export function Variants({ variants, defaultModel, inputs, onChange }: VariantsProps) {
  const set = (index: number, change: Partial<Variant>) =>
    onChange(variants.map((one, at) => (at === index ? { ...one, ...change } : one)));
  return (
    <fieldset class="stack">
      <legend>{variants.length === 1 ? 'Model' : 'Models, side by side'}</legend>
      {variants.map(({ model, temperature }, index) => {
        const input = inputs[index] ?? null;
        return (
          <div key={index} class="pg-variant">
            <label>
              <span class="soft small">Model{variants.length > 1 && ` ${index + 1}`}</span>
              <input
                class="input"
                value={model}
                placeholder={defaultModel ?? 'not set'}
                autocomplete="off"
                spellcheck={false}
                onInput={({ currentTarget: { value } }) => set(index, { model: value })}
              />
            </label>
            <label>
              <span class="soft small">Temperature{variants.length > 1 && ` ${index + 1}`}</span>
              <input
                class="input"
                inputMode="decimal"
                value={temperature}
                placeholder="default"
                autocomplete="off"
                aria-invalid={!isTemperature(temperature)}
                onInput={({ currentTarget: { value } }) => set(index, { temperature: value })}
              />
            </label>
            {variants.length > 1 && (
              <Button
                look="quiet"
                icon="trash"
                label={`Remove model ${index + 1}`}
                onClick={() => onChange(variants.filter((_, at) => at !== index))}
              />
            )}
            <Estimate input={input} />
          </div>
        );
      })}
      {variants.some(({ temperature }) => !isTemperature(temperature)) && (
        <p class="bad small">Temperature must be a number from 0 to 2.</p>
      )}
      <div>
        <Button
          icon="plus"
          refused={variants.length >= MAX_VARIANTS ? `A project can run ${MAX_VARIANTS} calls at once` : null}
          onClick={() => onChange([...variants, variants.at(-1) ?? { model: '', temperature: '' }])}
        >
          Add variant
        </Button>
      </div>
    </fieldset>
  );
}

export function isTemperature(text: string): boolean {
  const value = Number(text);
  return text.trim() === '' || (value >= 0 && value <= 2);
}

const SETTLED_MS = 400;

/** What a call will come to, once no one has typed for a moment. */
function Estimate({ input }: { readonly input: PlaygroundInput | null }) {
  const [found, setFound] = useState<PlaygroundEstimate | string | null>(null);
  const asked = input === null ? null : JSON.stringify(input);
  useEffect(() => {
    if (asked === null) {
      setFound(null);
      return;
    }
    const leaving = new AbortController();
    const ask = async () => {
      const body = JSON.parse(asked) as PlaygroundInput;
      return call('POST /projects/:project_id/playground:estimate', { body, signal: leaving.signal });
    };
    const timer = setTimeout(() => {
      ask().then(setFound, (error: unknown) => leaving.signal.aborted || setFound((error as Error).message));
    }, SETTLED_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [asked]);
  if (found === null) return <p class="pg-estimate soft small">No messages to send yet.</p>;
  if (typeof found === 'string') return <p class="pg-estimate bad small">{found}</p>;
  const { input_tokens, input_cost, cost_per_1000_output_tokens: output, cost_unknown_reason, model } = found;
  return (
    <p class="pg-estimate soft small">
      <bdi>{model}</bdi>: about {count(input_tokens)} tokens
      {cost_unknown_reason === null ? (
        <>
          , <span title={moneyInFull(input_cost)}>{money(input_cost)}</span>, plus{' '}
          <span title={moneyInFull(output)}>{money(output)}</span> per 1,000 output tokens
        </>
      ) : (
        <>. Cost unknown: {cost_unknown_reason}</>
      )}
    </p>
  );
}
