import { useState } from 'preact/hooks';
import { DEFAULT_WINDOW } from '../../../../features/dashboards/dashboard.js';
import type { DashboardRead } from '../../../../features/dashboards/schema.js';
import { rangeLabel, RANGES } from '../../../model/range.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf, navigate } from '../../state/location.js';
import { changedAt } from '../../state/query.js';
import { changeDashboard, dashboards } from './data.js';

interface DashboardFormProps {
  /** The one that is changed; null: a new one. */
  readonly dashboard: DashboardRead | null;
  readonly onClose: () => void;
}

/** Makes a dashboard, or gives one another name or time. */
export function DashboardForm({ dashboard, onClose }: DashboardFormProps) {
  const [name, setName] = useState(dashboard?.name ?? '');
  const [window, setWindow] = useState(dashboard?.window ?? DEFAULT_WINDOW);
  const windows = [...new Set([...Object.keys(RANGES), window])];
  const send = async () => {
    if (dashboard !== null) await changeDashboard(dashboard, { name, window }, 'Dashboard changed');
    else {
      const { id } = await call('POST /projects/:project_id/dashboards', { body: { name, window } });
      await changedAt(dashboards());
      announce('Dashboard created');
      navigate(hrefOf({ screen: 'dashboards', id }));
    }
    onClose();
  };
  return (
    <Dialog title={dashboard === null ? 'New dashboard' : 'Edit dashboard'} onClose={onClose}>
      <Form
        action={dashboard === null ? 'Create dashboard' : 'Save'}
        refused={name.trim() === '' ? 'Enter a name' : null}
        onSend={send}
        onCancel={onClose}
      >
        {(wrong) => (
          <>
            <Field label="Name" wrong={wrong['name'] ?? null}>
              <input
                class="input"
                autocomplete="off"
                autofocus
                maxLength={200}
                value={name}
                onInput={(event) => setName(event.currentTarget.value)}
              />
            </Field>
            <Field label="Time" hint="Default time range; readers can choose another" wrong={wrong['window'] ?? null}>
              <select class="input" value={window} onChange={(event) => setWindow(event.currentTarget.value)}>
                {windows.map((length) => (
                  <option key={length} value={length}>
                    {rangeLabel({ range: length, from: null, to: null }, (time) => time)}
                  </option>
                ))}
              </select>
            </Field>
          </>
        )}
      </Form>
    </Dialog>
  );
}
