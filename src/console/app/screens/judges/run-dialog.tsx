import { useState } from 'preact/hooks';
import type { RunInput } from '../../../../features/judges/run-schema.js';
import { count, counted } from '../../../model/format.js';
import { runOf } from '../../../model/judge-subjects.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf, navigate } from '../../state/location.js';
import { judgesChanged } from './lists.js';
import { EvaluationPrice } from './evaluation-price.js';
import type { JudgeTabProps } from './tab-props.js';

/** Has spans evaluated, and says how many were queued. @throws ApiError */
export async function runJudge(id: string, body: RunInput): Promise<void> {
  const { queued } = await call('POST /projects/:project_id/judges/:judge_id:run', { params: { judge_id: id }, body });
  announce(`${counted(queued, 'evaluation')} queued`);
  await judgesChanged();
}

/** Has all that failed tried again, and says how many were queued. @throws ApiError */
export async function retryFailed(id: string): Promise<void> {
  const params = { judge_id: id };
  const { queued, left } = await call('POST /projects/:project_id/judges/:judge_id:retry', { params });
  announce(
    `${counted(queued, 'evaluation')} requeued${left > 0 ? `; no room in the queue for ${count(left)} more` : ''}`,
  );
  await judgesChanged();
}

/** Evaluates past spans, traces or sessions: the newest that match, or those with given ids. */
export function RunDialog({ judge, onClose }: JudgeTabProps & { readonly onClose: () => void }) {
  const [newest, setNewest] = useState('100');
  const [ids, setIds] = useState('');
  const { busy, failure, run } = useAction();
  const { subject } = judge;
  const named = ids.split(/[\s,]+/).filter((id) => id !== '');
  const send = () =>
    run(async () => {
      await runJudge(judge.id, named.length > 0 ? runOf(subject, named) : { backfill: Number(newest) });
      onClose();
      navigate(hrefOf({ screen: 'judges', id: judge.id, query: { tab: 'queue' } }));
    });
  return (
    <Dialog title={`Evaluate past ${subject}s`} onClose={onClose}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <Field
          label={`Number of most recent matching ${subject}s`}
          hint={`At most 10,000. Those already evaluated are evaluated again.`}
        >
          <input
            class="input"
            inputMode="numeric"
            value={newest}
            onInput={(event) => setNewest(event.currentTarget.value)}
          />
        </Field>
        <Field
          label={`Or specific ${subject}s, by ID`}
          hint="Separate IDs with spaces or line breaks. Filters do not apply. At most 1,000."
        >
          <textarea class="input mono" value={ids} onInput={(event) => setIds(event.currentTarget.value)} />
        </Field>
        <EvaluationPrice judge={judge} times={named.length > 0 ? named.length : Number(newest)} />
        {failure !== null && <Failure error={failure} />}
        <div class="line">
          <Button
            type="submit"
            look="main"
            changes
            busy={busy}
            refused={judge.runnable ? null : judge.not_runnable_reason}
          >
            {named.length > 0 ? `Evaluate ${counted(named.length, subject)}` : `Evaluate newest ${subject}s`}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
