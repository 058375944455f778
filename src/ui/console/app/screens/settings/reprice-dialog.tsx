import { useState } from 'preact/hooks';
import type { RepriceInput } from '../../../../../domain/price/schema.js';
import { momentOf } from '../../../model/zoned-time.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { zone } from '../../state/preferences.js';
import { changedAt } from '../../state/query.js';

interface RepriceDialogProps {
  readonly provider?: string;
  readonly model?: string;
  readonly onClose: () => void;
}

/** Starts a job that calculates stored costs anew, of all calls or of some. */
export function RepriceDialog({ provider = '', model = '', onClose }: RepriceDialogProps) {
  const [scope, setScope] = useState({ provider, model, from: '', to: '' });
  const send = async () => {
    const time = (clock: string) => (clock === '' ? null : momentOf(clock, zone.value));
    const body: Record<keyof RepriceInput, string | null> = {
      started_after: time(scope.from),
      started_before: time(scope.to),
      provider: scope.provider === '' ? null : scope.provider,
      model: scope.model === '' ? null : scope.model,
    };
    await call(ofProject('/model-prices:reprice'), { method: 'POST', body });
    announce('Costs are being calculated anew');
    await changedAt(ofProject('/model-prices/reprices'));
    onClose();
  };
  const shared = (name: keyof typeof scope) => ({
    class: 'input',
    autocomplete: 'off',
    value: scope[name],
    onInput: (event: { readonly currentTarget: HTMLInputElement }) =>
      setScope({ ...scope, [name]: event.currentTarget.value }),
  });
  return (
    <Dialog title="Calculate costs anew" onClose={onClose}>
      <Form action="Calculate" icon="refresh" onSend={send} onCancel={onClose}>
        <p class="soft">
          Stored calls get the cost of the prices as they are now. A cost that a client sent stays. Empty fields mean
          all calls; times as clocks show them in {zone.value}.
        </p>
        <div class="field-grid dates">
          <Field label="Provider" hint="Empty: every one">
            <input {...shared('provider')} autofocus />
          </Field>
          <Field label="Model" hint="Empty: every one">
            <input {...shared('model')} />
          </Field>
          <Field label="Started from" hint="Empty: from the beginning on">
            <input {...shared('from')} type="datetime-local" step="1" />
          </Field>
          <Field label="Started until" hint="Empty: until now">
            <input {...shared('to')} type="datetime-local" step="1" />
          </Field>
        </div>
      </Form>
    </Dialog>
  );
}
