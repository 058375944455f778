import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt } from '../../state/query.js';

const LISTS = ['spans', 'traces', 'sessions', 'scores', 'feedback'] as const;
const EVERY = { 15: '15 minutes', 60: 'hour', 360: '6 hours', 1440: 'day' } as const;

/** Schedules an export. */
export function ExportDialog({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState({ name: '', list: 'spans', query: '', format: 'parquet', every: '60' });
  const send = async () => {
    const { name, query, every } = draft;
    await call('POST /projects/:project_id/scheduled-exports', {
      body: {
        ...{ name, query, every_minutes: Number(every) },
        list: draft.list as (typeof LISTS)[number],
        format: draft.format as 'jsonl' | 'csv' | 'parquet',
      },
    });
    announce('Export scheduled');
    await changedAt(ofProject('/scheduled-exports'));
    onClose();
  };
  const shared = (name: keyof typeof draft) => ({
    class: 'input',
    value: draft[name],
    onInput: (event: { readonly currentTarget: HTMLInputElement | HTMLSelectElement }) =>
      setDraft({ ...draft, [name]: event.currentTarget.value }),
  });
  return (
    <Dialog title="Schedule export" onClose={onClose}>
      <Form
        action="Schedule"
        icon="plus"
        refused={draft.name.trim() === '' ? 'Enter a name' : null}
        onSend={send}
        onCancel={onClose}
      >
        <Field label="Name">
          <input {...shared('name')} autocomplete="off" maxLength={200} autofocus />
        </Field>
        <Field label="List">
          <select {...shared('list')}>
            {LISTS.map((list) => (
              <option key={list}>{list}</option>
            ))}
          </select>
        </Field>
        <Field label="Filters and fields" hint="As in the URL of the list, such as span_kind=llm&fields=name,cost">
          <input {...shared('query')} autocomplete="off" maxLength={10_000} />
        </Field>
        <Field label="Format">
          <select {...shared('format')}>
            <option value="parquet">Parquet</option>
            <option value="jsonl">JSON lines</option>
            <option value="csv">CSV</option>
          </select>
        </Field>
        <Field label="Every">
          <select {...shared('every')}>
            {Object.entries(EVERY).map(([minutes, label]) => (
              <option key={minutes} value={minutes}>
                {label}
              </option>
            ))}
          </select>
        </Field>
      </Form>
    </Dialog>
  );
}
