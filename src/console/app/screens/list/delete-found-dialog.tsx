import { useEffect, useRef, useState } from 'preact/hooks';
import type { DeletionPlanRead } from '../../../../features/deletion/schema.js';
import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { count, counted, money } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Figure, When } from '../../parts/figures.js';
import { Form } from '../../parts/form.js';
import { Answered } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';
import { CancelDeletion, DeletionProgress, isUnderWay } from '../settings/deletions.js';

interface DeleteFoundDialogProps {
  readonly list: ListDefinition;
  readonly query: URLSearchParams;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

/** Shows what the filters of a list find now, and deletes just that once its number was typed. */
export function DeleteFoundDialog({ list, query, onDeleted, onClose }: DeleteFoundDialogProps) {
  const [job, setJob] = useState<string | null>(null);
  const [asked] = useState(() => ({ list: list.name, query: query.toString() }));
  const plan = useQuery({
    key: [ofProject('/deletions'), 'plan', asked],
    // One that was shown before may be too old.
    keptMs: 0,
    ask: async (signal) => {
      const answer = await call('POST /projects/:project_id/deletions', { body: { dry_run: true, ...asked }, signal });
      return answer as DeletionPlanRead;
    },
  });
  const what = list.name.slice(0, -1);
  return (
    <Dialog title={`Delete the ${list.name} that match?`} onClose={onClose}>
      {job === null ? (
        <Answered answer={plan} rows={4}>
          {(found) =>
            found[list.name] === 0 ? (
              <p>No {list.name} match.</p>
            ) : (
              <Ask found={found} what={what} onStarted={setJob} onClose={onClose} />
            )
          }
        </Answered>
      ) : (
        <UnderWay id={job} what={what} onDeleted={onDeleted} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface AskProps {
  readonly found: DeletionPlanRead;
  readonly what: string;
  readonly onStarted: (job: string) => void;
  readonly onClose: () => void;
}

function Ask({ found, what, onStarted, onClose }: AskProps) {
  const [typed, setTyped] = useState('');
  const input = useRef<HTMLInputElement>(null);
  // The dialog was there before it.
  useEffect(() => input.current?.focus(), []);
  const number = found[found.list];
  const start = async () => {
    const job = await call('POST /projects/:project_id/deletions', { body: { confirm: found.confirm } });
    await changedAt(ofProject('/deletions'));
    if ('id' in job) onStarted(job.id);
  };
  const isTyped = typed.replace(/\D/g, '') === String(number);
  return (
    <Form
      action={`Delete ${counted(number, what)}`}
      look="danger"
      icon="trash"
      refused={isTyped ? null : `Enter the number of ${found.list} first`}
      onSend={start}
      onCancel={onClose}
    >
      <dl class="trace-figures">
        <Figure label="Traces">{count(found.traces)}</Figure>
        <Figure label="Spans">{count(found.spans)}</Figure>
        <Figure label="Sessions">{count(found.sessions)}</Figure>
        <Figure label="Cost">{money(found.cost)}</Figure>
        <Figure label="Oldest">
          <When at={found.oldest_started_at} />
        </Figure>
        <Figure label="Newest">
          <When at={found.newest_started_at} />
        </Figure>
      </dl>
      <p>
        {found.list === 'spans'
          ? 'Their texts, images, scores, evaluations and feedback are deleted too; other spans of their traces are kept.'
          : 'All spans in them are deleted too, with images, scores, evaluations and feedback.'}{' '}
        What arrives from now on is kept. This cannot be undone.
      </p>
      <Field label={`Enter the number of ${found.list}, ${number}`}>
        <input
          ref={input}
          class="input"
          inputMode="numeric"
          autocomplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </Field>
    </Form>
  );
}

interface UnderWayProps {
  readonly id: string;
  readonly what: string;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

function UnderWay({ id, what, onDeleted, onClose }: UnderWayProps) {
  const answer = useQuery({
    key: [ofProject('/deletions'), id],
    ask: (signal) => call('GET /projects/:project_id/deletions/:job_id', { params: { job_id: id }, signal }),
    every: (job) => (job === undefined || isUnderWay(job) ? 1000 : false),
    keep: false,
  });
  const ended = answer.data === undefined || isUnderWay(answer.data) ? null : answer.data;
  useEffect(() => {
    if (ended === null) return;
    announce(`${counted(ended.deleted, what)} deleted`, { bad: ended.status === 'failed' });
    onDeleted();
  }, [ended?.id]);
  return (
    <Answered answer={answer} rows={2}>
      {(job) => (
        <div class="stack">
          <p role="status">
            <DeletionProgress job={job} />
          </p>
          {job.error !== null && <p role="alert">{job.error}</p>}
          <p class="soft">The deletion continues if you close this. See Settings → Project.</p>
          <div class="line">
            {isUnderWay(job) && <CancelDeletion job={job} />}
            <Button onClick={onClose}>Close</Button>
          </div>
        </div>
      )}
    </Answered>
  );
}
