import { useState } from 'preact/hooks';
import { EMPTY_RUN, estimateText, refusedRun, runOf, type RunDraft } from '../../../model/experiment-run.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf, navigate } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { useDatasets } from '../datasets/data.js';
import { experimentsChanged } from './data.js';

/** Datasets, and prompts, that can be chosen. */
const OFFERED = 200;

interface RunDialogProps {
  /** The dataset, where it is known. */
  readonly dataset?: string;
  readonly onClose: () => void;
}

/** Has the server run a prompt on a dataset, and leads to the experiment. */
export function RunDialog({ dataset = '', onClose }: RunDialogProps) {
  const [draft, setDraft] = useState<RunDraft>({ ...EMPTY_RUN, dataset });
  const [estimate, setEstimate] = useState<string | null>(null);
  const { busy, failure, run } = useAction();
  const refused = refusedRun(draft);
  const set = (change: Partial<RunDraft>) => {
    setDraft({ ...draft, ...change });
    setEstimate(null);
  };
  const ask = (dry_run: boolean) =>
    call('POST /projects/:project_id/experiments:run', { body: { ...runOf(draft), dry_run } });
  const preview = async () => {
    const answer = await ask(true);
    if ('calls' in answer) setEstimate(estimateText(answer));
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
    <Dialog title="Run a prompt on a dataset" onClose={onClose}>
      <Form action="Run" icon="play" refused={refused} onSend={start} onCancel={onClose}>
        <RunFields draft={draft} onSet={set} />
        <div class="line">
          <Button busy={busy} refused={refused} onClick={() => run(preview)}>
            Estimate cost
          </Button>
          {estimate !== null && <span role="status">{estimate}</span>}
        </div>
        {failure !== null && <Failure error={failure} />}
      </Form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly draft: RunDraft;
  readonly onSet: (change: Partial<RunDraft>) => void;
}

function RunFields({ draft, onSet }: FieldsProps) {
  const datasets = useDatasets({ limit: OFFERED }).data?.rows ?? [];
  const prompts = useQuery({
    key: ['/prompts', 'run'],
    ask: (signal) => call('GET /projects/:project_id/prompts', { query: { limit: OFFERED }, signal }),
  }).data;
  const names = datasets.map(({ name }) => name);
  const number = (name: 'version' | 'repetitions' | 'maxCost', least: string) => (
    <input
      class="input"
      type="number"
      min={least}
      step={name === 'maxCost' ? 'any' : '1'}
      value={draft[name]}
      onInput={({ currentTarget: { value } }) => onSet({ [name]: value })}
    />
  );
  return (
    <>
      <div class="line fields">
        <Field label="Dataset">{choice(draft.dataset, names, (value) => onSet({ dataset: value }))}</Field>
        <Field label="Prompt">
          {choice(
            draft.prompt,
            (prompts ?? []).map(({ slug }) => slug),
            (prompt) => onSet({ prompt }),
          )}
        </Field>
      </div>
      <div class="line fields">
        <Field label="Prompt version" hint="Leave empty for the latest.">
          {number('version', '1')}
        </Field>
        <Field label="Model" hint="Leave empty to use the prompt version's model.">
          <input
            class="input"
            autocomplete="off"
            value={draft.model}
            onInput={({ currentTarget: { value } }) => onSet({ model: value })}
          />
        </Field>
      </div>
      <div class="line fields">
        <Field label="Repetitions">{number('repetitions', '1')}</Field>
        <Field label="Maximum cost (USD)" hint="Leave empty for no limit.">
          {number('maxCost', '0')}
        </Field>
      </div>
    </>
  );
}

function choice(chosen: string, offered: readonly string[], onChoose: (value: string) => void) {
  const all = chosen === '' || offered.includes(chosen) ? offered : [chosen, ...offered];
  return (
    <select class="input" value={chosen} onChange={({ currentTarget: { value } }) => onChoose(value)}>
      <option value="">Choose</option>
      {all.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
