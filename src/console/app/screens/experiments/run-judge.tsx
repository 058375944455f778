import { useState } from 'preact/hooks';
import { BASELINE, type Experiment } from '../../../model/experiments.js';
import { count, counted } from '../../../model/format.js';
import { CURRENT, resultsLeft, runnableVersions, type RunnableVersion } from '../../../model/judge-runs.js';
import { shortVersion } from '../../../model/judge-version-text.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { Answered, Empty } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { judgesChanged, MAX_PAGE, useJudges } from '../judges/lists.js';
import { EvaluationPrice } from '../judges/evaluation-price.js';
import { experimentsChanged, useExperiment } from './data.js';
import { useTagged } from './tagged.js';

interface RunJudgeProps {
  readonly experiment: Experiment;
  /** Id of the judge that is chosen at first. */
  readonly judgeId?: string;
  /** Another experiment whose version of the judge is to be used, beside the baseline of the dataset. */
  readonly other?: Experiment;
  readonly onClose: () => void;
}

/** Has a judge evaluate the results of an experiment, all by one version. */
export function RunJudge({ onClose, ...rest }: RunJudgeProps) {
  return (
    <Dialog title="Run a judge on the results" onClose={onClose}>
      <Answered answer={useJudges({ offset: 0, limit: MAX_PAGE })} rows={3}>
        {(judges) =>
          judges.length === 0 ? (
            <Empty title="No judges yet">
              <a href={hrefOf({ screen: 'judges', id: 'new' })}>Create a judge</a>
            </Empty>
          ) : (
            <RunJudgeForm judges={judges} onClose={onClose} {...rest} />
          )
        }
      </Answered>
    </Dialog>
  );
}

type Judges = NonNullable<ReturnType<typeof useJudges>['data']>;

function RunJudgeForm({ experiment, judges, other, onClose, ...first }: RunJudgeProps & { readonly judges: Judges }) {
  const [judgeId, setJudgeId] = useState(first.judgeId ?? (judges.length === 1 ? judges[0]?.id : '') ?? '');
  const [chosen, setChosen] = useState<string | null>(null);
  const baseline = useExperiment(useTagged(experiment.dataset.id, BASELINE)?.id ?? '').data;
  const judge = judges.find(({ id }) => id === judgeId);
  const others = [other, baseline].filter((one) => one !== undefined);
  const versions = runnableVersions(judgeId, experiment, others);
  const version = chosen ?? versions[0]?.version ?? CURRENT;
  const left = resultsLeft(experiment, judgeId, version);
  const send = async () => {
    const {
      queued,
      left: waiting = 0,
      skipped = 0,
    } = await call('POST /projects/:project_id/judges/:judge_id:run', {
      params: { judge_id: judgeId },
      body: { experiment_id: experiment.id, judge_version: version },
    });
    announce(queued === 0 ? 'This version has evaluated all results' : queuedText(queued, waiting, skipped));
    await Promise.all([experimentsChanged(), judgesChanged()]);
    onClose();
  };
  const nothing = left === 0 ? 'This version has evaluated all results, or they are queued' : null;
  const refused = judge === undefined ? 'Choose a judge' : judge.runnable ? nothing : judge.not_runnable_reason;
  return (
    <Form action="Run judge" icon="play" changes="judges:write" refused={refused} onSend={send} onCancel={onClose}>
      {(wrong) => (
        <>
          <Field label="Judge">
            <select
              class="input"
              value={judgeId}
              onChange={({ currentTarget: { value } }) => {
                setJudgeId(value);
                setChosen(null);
              }}
            >
              <option value="">Choose a judge</option>
              {judges.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
          {judge !== undefined && (
            <>
              <Field
                label="Version"
                wrong={wrong['judge_version'] ?? wrong['experiment_id'] ?? null}
                hint="Only experiments that one version evaluated can be compared by their verdicts."
              >
                <select class="input" value={version} onChange={({ currentTarget: { value } }) => setChosen(value)}>
                  {versions.map((one) => (
                    <option key={one.version} value={one.version}>
                      {versionText(one, experiment)}
                    </option>
                  ))}
                </select>
              </Field>
              <p class="soft">
                {nothing ?? `Up to ${counted(left, 'model call')}, one for each result with an output.`}{' '}
                <EvaluationPrice judge={judge} times={left} />
              </p>
            </>
          )}
        </>
      )}
    </Form>
  );
}

function versionText({ version, ranOn }: RunnableVersion, { name }: Experiment): string {
  if (ranOn === null) return 'Current version';
  return `${shortVersion(version)}, ${ranOn === name ? 'last run on this experiment' : `run on ${ranOn}`}`;
}

function queuedText(queued: number, left: number, skipped: number): string {
  return [
    `${counted(queued, 'evaluation')} queued`,
    left > 0 && `no room in the queue for ${count(left)} more: run the judge again later`,
    skipped > 0 && `${counted(skipped, 'result')} without an output skipped`,
  ]
    .filter((part) => part !== false)
    .join('; ');
}
