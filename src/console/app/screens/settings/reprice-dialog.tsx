import { useState } from 'preact/hooks';
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

/** Starts a job that calculates stored costs again, of all calls or of some. */
export function RepriceDialog({ provider = '', model = '', onClose }: RepriceDialogProps) {
  const [scope, setScope] = useState({ provider, model, from: '', to: '' });
  const send = async () => {
    const time = (clock: string) => (clock === '' ? null : momentOf(clock, zone.value));
    await call('POST /projects/:project_id/model-prices:reprice', {
      body: {
        started_after: time(scope.from),
        started_before: time(scope.to),
        provider: scope.provider === '' ? null : scope.provider,
        model: scope.model === '' ? null : scope.model,
      },
    });
    announce('Recalculating costs');
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
    <Dialog title="Recalculate costs" onClose={onClose}>
      <Form action="Recalculate" icon="refresh" onSend={send} onCancel={onClose}>
        <p class="soft">
          Recalculates the cost of stored calls at current prices. Costs sent by clients do not change. Leave fields
          empty for all calls; times are in {zone.value}.
        </p>
        <div class="field-grid dates">
          <Field label="Provider" hint="Leave empty for all">
            <input {...shared('provider')} autofocus />
          </Field>
          <Field label="Model" hint="Leave empty for all">
            <input {...shared('model')} />
          </Field>
          <Field label="Started after" hint="Leave empty for no start">
            <input {...shared('from')} type="datetime-local" step="1" />
          </Field>
          <Field label="Started before" hint="Leave empty for now">
            <input {...shared('to')} type="datetime-local" step="1" />
          </Field>
        </div>
      </Form>
    </Dialog>
  );
}
