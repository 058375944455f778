import { useState } from 'preact/hooks';
import type { ApiKeyCreated, ApiKeyRead } from '../../../../features/api-keys/http/schema.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt } from '../../state/query.js';
import { whoami } from '../../state/session.js';

interface RotateKeyProps {
  readonly of: ApiKeyRead;
  readonly onMade: (key: ApiKeyCreated) => void;
  readonly onClose: () => void;
}

const HOUR = 3_600;
const OVERLAPS = [
  ['No overlap: reject it now', 0],
  ['1 hour', HOUR],
  ['1 day', 24 * HOUR],
  ['7 days', 7 * 24 * HOUR],
  ['30 days', 30 * 24 * HOUR],
] as const;

/** Replaces a key by a new one, and asks for how long both are accepted. */
export function RotateKey({ of: { id, name }, onMade, onClose }: RotateKeyProps) {
  const [overlap, setOverlap] = useState(24 * HOUR);
  const send = async () => {
    const body = { overlap_seconds: overlap };
    const made = await call('POST /projects/:project_id/api-keys/:key_id:rotate', { params: { key_id: id }, body });
    announce('Key rotated: copy the new key now');
    await changedAt(ofProject('/api-keys'));
    onMade(made);
  };
  return (
    <Dialog title="Rotate this key?" onClose={onClose}>
      <Form action="Rotate key" onSend={send} onCancel={onClose}>
        <p>
          Creates a key with the same name, scopes and user as <bdi>{name}</bdi>. Give it to your program before the old
          key expires.
        </p>
        {id === whoami.value?.key.id && <p class="hint">Your session uses this key: it ends when the key expires.</p>}
        <Field label="The old key is accepted for">
          <select
            class="input"
            autofocus
            value={overlap}
            onChange={(event) => setOverlap(Number(event.currentTarget.value))}
          >
            {OVERLAPS.map(([label, seconds]) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </select>
        </Field>
      </Form>
    </Dialog>
  );
}
