import { useState } from 'preact/hooks';
import type { ModelPriceRead } from '../../../../features/prices/http/schema.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { pricesChanged } from './price-calls.js';

interface PriceDialogProps {
  readonly provider: string;
  readonly model: string;
  /** The price that is changed; absent: it is new. */
  readonly current?: ModelPriceRead;
  readonly onClose: () => void;
}

const shown = (rate: number | null | undefined) => (rate == null ? '' : String(rate));

/** Sets the price of a model, or changes it. */
export function PriceDialog({ current, onClose, ...named }: PriceDialogProps) {
  const [provider, setProvider] = useState(named.provider);
  const [model, setModel] = useState(named.model);
  const [input, setInput] = useState(shown(current?.input_per_million));
  const [output, setOutput] = useState(shown(current?.output_per_million));
  const [cacheRead, setCacheRead] = useState(shown(current?.cache_read_per_million));
  const send = async () => {
    await call('PUT /projects/:project_id/model-prices/:provider/:model+', {
      params: { provider, model },
      body: {
        input_per_million: Number(input),
        output_per_million: Number(output),
        cache_read_per_million: cacheRead === '' ? null : Number(cacheRead),
      },
    });
    announce('Price saved; applies to new calls');
    await pricesChanged();
    onClose();
  };
  const isNew = current === undefined;
  const missing = [provider, model, input, output].some((text) => text.trim() === '');
  return (
    <Dialog title={isNew ? 'Set price' : 'Change price'} onClose={onClose}>
      <Form
        action="Save price"
        icon="price"
        refused={missing ? 'Enter provider, model and both rates' : null}
        onSend={send}
        onCancel={onClose}
      >
        <Name label="Provider" value={provider} onInput={setProvider} fixed={!isNew} first={named.provider === ''} />
        <Name label="Model" value={model} onInput={setModel} fixed={!isNew} />
        <p class="soft">US dollars per million tokens:</p>
        <div class="field-grid">
          <RateField label="Input" value={input} onInput={setInput} first={named.provider !== ''} />
          <RateField label="Output" value={output} onInput={setOutput} />
          <RateField
            label="Cached input"
            hint="Leave empty for the input price"
            value={cacheRead}
            onInput={setCacheRead}
          />
        </div>
        <p class="soft">Stored costs do not change until you recalculate them.</p>
      </Form>
    </Dialog>
  );
}

interface TextProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** Whether it has the focus when the dialog opens. */
  readonly first?: boolean;
}

function Name({ label, value, onInput, fixed, first = false }: TextProps & { readonly fixed: boolean }) {
  return (
    <Field label={label}>
      <input
        class="input"
        required
        maxLength={256}
        autocomplete="off"
        readOnly={fixed}
        autofocus={first}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

function RateField({ label, hint, value, onInput, first = false }: TextProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      <input
        class="input"
        type="number"
        min="0"
        step="any"
        inputMode="decimal"
        required={hint === undefined}
        autofocus={first}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}
