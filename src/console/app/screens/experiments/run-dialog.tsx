import { useState } from 'preact/hooks';
import type { RunEstimate } from '../../../../features/experiment-runs/schema.js';
import { EMPTY_RUN, estimateText, refusedRun, runOf, type RunDraft } from '../../../model/experiment-run.js';
import { counted } from '../../../model/format.js';
import { Dialog } from '../../parts/dialog.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf, navigate } from '../../state/location.js';
import { experimentsChanged } from './data.js';
import { RunFields } from './run-fields.js';

interface RunDialogProps {
  /** The dataset, where it is known. */
  readonly dataset?: string;
  readonly onClose: () => void;
}

/** Has the server run a prompt on a dataset, once it is known what that comes to, and leads to the experiment. */
export function RunDialog({ dataset = '', onClose }: RunDialogProps) {
  const [draft, setDraft] = useState<RunDraft>({ ...EMPTY_RUN, dataset });
  const [estimate, setEstimate] = useState<RunEstimate | null>(null);
  const set = (change: Partial<RunDraft>) => {
    setDraft({ ...draft, ...change });
    setEstimate(null);
  };
  const ask = (dry_run: boolean) =>
    call('POST /projects/:project_id/experiments:run', { body: { ...runOf(draft), dry_run } });
  const preview = async () => {
    const answer = await ask(true);
    if ('calls' in answer) setEstimate(answer);
  };
  const start = async () => {
    const answer = await ask(false);
    if (!('id' in answer)) return;
    announce(`Experiment ${answer.name} started`);
    await experimentsChanged();
    onClose();
    navigate(hrefOf({ screen: 'experiments', id: answer.id }));
  };
  return (
    <Dialog title="Run a prompt on a dataset" wide onClose={onClose}>
      <Form
        action={estimate === null ? 'Estimate cost' : `Run ${counted(estimate.calls, 'call')}`}
        {...(estimate !== null && { icon: 'play' })}
        refused={refusedRun(draft)}
        onSend={estimate === null ? preview : start}
        onCancel={onClose}
      >
        {(wrong) => (
          <>
            <RunFields draft={draft} wrong={wrong} onSet={set} />
            {estimate !== null && (
              <p role="status" class="card">
                <bdi>{estimateText(estimate, draft)}</bdi>
              </p>
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}
