import { useState } from 'preact/hooks';
import type { MonitorRead } from '../../../../features/monitors/schema.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';
import {
  conditionOf,
  draftOf,
  EMPTY,
  MEASURES,
  refusalOf,
  thresholdHint,
  UNFILTERED,
  WINDOWS,
  type Draft,
} from './draft.js';
import { Preview } from './preview.js';

interface MonitorFormProps {
  /** The one that is changed; null: a new one. */
  readonly monitor: MonitorRead | null;
  readonly onClose: () => void;
}

/** Makes a monitor, or changes one, after a look at what it would have done. */
export function MonitorForm({ monitor, onClose }: MonitorFormProps) {
  const [draft, setDraft] = useState<Draft>(monitor === null ? EMPTY : draftOf(monitor));
  const [tested, setTested] = useState<Draft | null>(null);
  const refused = refusalOf(draft);
  const send = async () => {
    const { name } = draft;
    const condition = conditionOf(draft);
    if (monitor === null) await call('POST /projects/:project_id/monitors', { body: { name, ...condition } });
    else {
      const params = { monitor_id: monitor.id };
      await call('PATCH /projects/:project_id/monitors/:monitor_id', { params, body: { name, condition } });
    }
    announce(monitor === null ? 'Monitor created' : 'Monitor changed');
    await changedAt(ofProject('/monitors'));
    onClose();
  };
  return (
    <Dialog title={monitor === null ? 'New monitor' : 'Edit monitor'} onClose={onClose}>
      <Form action={monitor === null ? 'Create monitor' : 'Save'} refused={refused} onSend={send} onCancel={onClose}>
        <ConditionFields draft={draft} change={(more) => setDraft({ ...draft, ...more })} />
        <Button icon="clock" refused={refused} onClick={() => setTested(draft)}>
          Test on the last 30 days
        </Button>
        {tested !== null && <Preview key={JSON.stringify(tested)} draft={tested} />}
      </Form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly change: (more: Partial<Draft>) => void;
}

function ConditionFields({ draft, change }: FieldsProps) {
  const bound = (name: keyof Draft) => ({
    class: 'input',
    value: draft[name],
    onInput: (event: { readonly currentTarget: HTMLInputElement | HTMLSelectElement }) =>
      change({ [name]: event.currentTarget.value }),
  });
  const number = (name: keyof Draft) => ({ ...bound(name), inputMode: 'decimal' as const, autocomplete: 'off' });
  return (
    <>
      <Field label="Name">
        <input {...bound('name')} autocomplete="off" maxLength={200} autofocus />
      </Field>
      <Field label="Measure">
        <select {...bound('measure')}>
          <Options of={MEASURES} />
        </select>
      </Field>
      {draft.measure === 'score_mean' && (
        <Field label="Score">
          <input {...bound('score')} autocomplete="off" maxLength={128} />
        </Field>
      )}
      {draft.measure === 'judge_pass_rate' && <JudgeField draft={draft} change={change} />}
      {!UNFILTERED.includes(draft.measure) && (
        <>
          <Field label="List">
            <select {...bound('list')}>
              <Options of={{ spans: 'Spans', traces: 'Traces', sessions: 'Sessions' }} />
            </select>
          </Field>
          <Field label="Filters" hint="As in the URL of the list, such as span_kind=llm&models=gpt-4o">
            <input {...bound('query')} autocomplete="off" maxLength={4_000} />
          </Field>
        </>
      )}
      <Field label="Window" hint="Longer windows are checked less often">
        <select {...bound('window')}>
          <Options of={WINDOWS} />
        </select>
      </Field>
      <Field label="Compared with">
        <select {...bound('compared')}>
          <Options of={{ constant: 'The threshold', previous_window: 'The window before, as a ratio' }} />
        </select>
      </Field>
      <Field label="Fires">
        <select {...bound('operator')}>
          <Options of={{ above: 'Above the threshold', below: 'Below the threshold' }} />
        </select>
      </Field>
      <Field label="Threshold" hint={thresholdHint(draft)}>
        <input {...number('threshold')} />
      </Field>
      <Field label="Recovers at" hint="Leave empty for the threshold">
        <input {...number('recovery')} />
      </Field>
      <Field
        label="Minimum count"
        hint="With fewer in the window, the monitor reports no data and keeps its alarm state"
      >
        <input {...number('minimum')} />
      </Field>
    </>
  );
}

function JudgeField({ draft, change }: FieldsProps) {
  const judges = useQuery({
    key: [ofProject('/judges'), 'names'],
    ask: (signal) => call('GET /projects/:project_id/judges', { signal }),
  });
  const names = Object.fromEntries((judges.data ?? []).map(({ id, name }) => [id, name]));
  return (
    <Field
      label="Judge"
      hint="Fires only if the whole 95% confidence interval of the pass rate is beyond the threshold"
    >
      <select class="input" value={draft.judge_id} onInput={(event) => change({ judge_id: event.currentTarget.value })}>
        <Options of={{ '': 'Choose a judge', ...names }} />
      </select>
    </Field>
  );
}

function Options({ of }: { readonly of: Readonly<Record<string, string>> }) {
  return (
    <>
      {Object.entries(of).map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </>
  );
}
