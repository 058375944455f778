import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Chart } from '../../../model/dashboard.js';
import { Dialog } from '../../parts/dialog.js';
import { Form } from '../../parts/form.js';
import { useScoreDefinitions } from '../../state/score-definitions.js';
import { ChartFields } from './chart-fields.js';

const NEW: Chart = {
  ...{ title: '', list: 'traces', query: '', measures: ['count', 'errors'] },
  ...{ group_by: null, bucket: null, kind: 'bars' },
};

interface ChartDialogProps {
  readonly title: string;
  /** Null: a new one. */
  readonly chart: Chart | null;
  /** Why it cannot be sent, beside what the chart lacks. */
  readonly refused?: string | null;
  readonly onSend: (chart: Chart) => Promise<void>;
  readonly onClose: () => void;
  /** Fields before those of the chart. */
  readonly children?: ComponentChildren;
}

/** What a chart shows, to be changed. */
export function ChartDialog({ title, chart, refused = null, onSend, onClose, children }: ChartDialogProps) {
  const [draft, setDraft] = useState(chart ?? NEW);
  const scores = useScoreDefinitions().data ?? [];
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        action={title}
        changes="dashboards:write"
        refused={refused ?? refusalOf(draft)}
        onSend={async () => {
          await onSend(draft);
          onClose();
        }}
        onCancel={onClose}
      >
        {children}
        <ChartFields draft={draft} scores={scores} onChange={(more) => setDraft({ ...draft, ...more })} />
      </Form>
    </Dialog>
  );
}

function refusalOf({ title, measures }: Chart): string | null {
  if (title.trim() === '') return 'Enter a title';
  return measures.length === 0 ? 'Add a measure' : null;
}
