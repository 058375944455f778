import { useState } from 'preact/hooks';
import { EVENT_TYPES } from '../../../../features/webhooks/event.js';
import type { WebhookInput } from '../../../../features/webhooks/schema.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { TokenField } from '../../parts/token-field.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt } from '../../state/query.js';

interface WebhookFormProps {
  /** Given the secret of its signatures. */
  readonly onMade: (secret: string | null) => void;
  readonly onClose: () => void;
}

/** Adds someone who is told of events. */
export function WebhookForm({ onMade, onClose }: WebhookFormProps) {
  const [draft, setDraft] = useState({ name: '', kind: 'webhook', target: '' });
  const [events, setEvents] = useState<readonly string[]>([]);
  const { name, kind, target } = draft;
  const isEmail = kind === 'email';
  const send = async () => {
    const body = {
      name,
      kind: kind as WebhookInput['kind'],
      target,
      events: events as WebhookInput['events'] & object,
    };
    const { secret } = await call('POST /projects/:project_id/webhooks', { body });
    announce('Destination added');
    await changedAt(ofProject('/webhooks'));
    onClose();
    onMade(secret);
  };
  const shared = (field: keyof typeof draft) => ({
    class: 'input',
    value: draft[field],
    onInput: (event: { readonly currentTarget: HTMLInputElement | HTMLSelectElement }) =>
      setDraft({ ...draft, [field]: event.currentTarget.value }),
  });
  return (
    <Dialog title="Add destination" onClose={onClose}>
      <Form
        action="Add destination"
        icon="plus"
        refused={name.trim() === '' ? 'Enter a name' : target === '' ? 'Enter a URL or address' : null}
        onSend={send}
        onCancel={onClose}
      >
        <Field label="Name">
          <input {...shared('name')} autocomplete="off" maxLength={200} autofocus />
        </Field>
        <Field label="Kind">
          <select {...shared('kind')}>
            <option value="webhook">Signed JSON</option>
            <option value="slack">Slack, or compatible</option>
            <option value="email">Email</option>
          </select>
        </Field>
        <Field label={isEmail ? 'Address' : 'URL'} hint={isEmail ? undefined : 'Shown only in part from then on'}>
          <input {...shared('target')} autocomplete="off" maxLength={2_000} />
        </Field>
        <TokenField
          label="Events"
          hint="Leave empty for all"
          values={events}
          suggested={EVENT_TYPES}
          refuse={(type) => (EVENT_TYPES.some((known) => known === type) ? null : 'There is no such event')}
          onChange={setEvents}
        />
      </Form>
    </Dialog>
  );
}
