import { useState } from 'preact/hooks';
import type { OptimizationRead } from '../../../../features/optimization/http/schema.js';
import { count } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Answered, Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { useQuery } from '../../state/query.js';
import { promptsChanged, useJudges, versionIn } from './data.js';

interface OptimizationStartProps {
  readonly slug: string;
  readonly latest: number;
  readonly onStarted: (job: OptimizationRead) => void;
  readonly onClose: () => void;
}

/** Chooses how a prompt is to be improved, and begins. */
export function OptimizationStart({ slug, latest, onStarted, onClose }: OptimizationStartProps) {
  const [judge, setJudge] = useState('');
  const [base, setBase] = useState('');
  const [candidates, setCandidates] = useState('3');
  const [examples, setExamples] = useState('30');
  const [model, setModel] = useState('');
  const { busy, failure, run } = useAction();
  const params = { prompt_slug: slug };
  const about = {
    ...(judge !== '' && { judge_id: judge }),
    ...(versionIn(base) !== null && { base_version: Number(base) }),
  };
  const readiness = useQuery({
    key: ['/prompts', slug, 'readiness', about],
    ask: (signal) =>
      call('GET /projects/:project_id/prompts/:prompt_slug/optimizations:readiness', { params, query: about, signal }),
  });
  const ready = readiness.data;
  const refused = ready === undefined ? 'Checking for enough feedback' : ready.ready ? null : ready.next;
  const start = () =>
    run(async () => {
      const job = await call('POST /projects/:project_id/prompts/:prompt_slug/optimizations', {
        params,
        body: {
          ...about,
          candidates: Number(candidates),
          max_examples: Number(examples),
          ...(model !== '' && { model }),
        },
      });
      await promptsChanged();
      announce('Optimization started');
      onStarted(job);
      onClose();
    });
  return (
    <Dialog title="Optimize prompt" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (refused === null) start();
        }}
      >
        <JudgeField chosen={judge} onChoose={setJudge} />
        <div class="prompt-fields">
          <NumberField
            label="Base version"
            value={base}
            onInput={setBase}
            max={latest}
            hint={ready === undefined ? '' : `${ready.base_version}: ${ready.base_version_reason}`}
          />
          <NumberField label="Candidates" value={candidates} onInput={setCandidates} max={5} required />
          <NumberField label="Maximum held-out completions" value={examples} onInput={setExamples} max={200} required />
          <Field label="Model" hint={`Leave empty for ${ready?.model ?? 'the version’s model'}`}>
            <input
              class="input"
              maxLength={512}
              value={model}
              onInput={({ currentTarget }) => setModel(currentTarget.value)}
            />
          </Field>
        </div>
        <Answered answer={readiness} rows={2}>
          {({ ready: enough, next, training, held_out }) => (
            <p>
              {!enough && next} Training: {count(training.have)} available (minimum {count(training.needed)}). Held-out:{' '}
              {count(held_out.have)} available (minimum {count(held_out.needed)}).
            </p>
          )}
        </Answered>
        <p class="soft">
          It makes about {count(callsOf(Number(candidates), Math.min(Number(examples), ready?.held_out.have ?? 0)))}{' '}
          model calls, which use tokens. The calls are stored as spans.
        </p>
        {failure !== null && <Failure error={failure} />}
        <div class="line">
          <Button type="submit" look="main" icon="play" changes busy={busy} refused={refused}>
            Start optimization
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Each candidate and the version that it is to replace: one call for the output of a completion, one for its verdict. */
function callsOf(candidates: number, examples: number): number {
  return 1 + 2 * (candidates + 1) * examples;
}

function JudgeField({ chosen, onChoose }: { readonly chosen: string; readonly onChoose: (id: string) => void }) {
  const judges = useJudges();
  return (
    <Field
      label="Evaluated by"
      hint="A judge evaluates the outputs; without one, the model compares each with the expected output."
    >
      <select class="input" value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="">the model, against expected outputs</option>
        {judges.data?.map(({ id, name }) => (
          <option key={id} value={id}>
            judge {name}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly max: number;
  readonly required?: boolean;
  readonly hint?: string;
}

function NumberField({ label, value, onInput, max, required = false, hint }: NumberFieldProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint: `Leave empty for ${hint}` })}>
      <input
        class="input"
        type="number"
        min={1}
        max={max}
        required={required}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </Field>
  );
}
