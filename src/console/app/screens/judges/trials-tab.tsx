import { useState } from 'preact/hooks';
import type {
  CalibrationRead,
  CalibrationTrialRead,
  CalibrationTrialSummaryRead,
} from '../../../../features/calibration/schema.js';
import { counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Field } from '../../parts/field.js';
import { When } from '../../parts/figures.js';
import { Answered, Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce, announceError } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefWith, place, setQuery } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { useCalibration } from './data.js';
import { judgesChanged } from './lists.js';
import type { JudgeTabProps } from './tab-props.js';
import { TrialResult } from './trial-result.js';

const EVERY_MS = 1000;

/** Whether corrections help: the judge evaluates spans that people spoke of, without them and with them. */
export function TrialsTab({ judge }: JudgeTabProps) {
  const chosen = place.value.query.get('trial');
  const params = { judge_id: judge.id };
  const trials = useQuery({
    key: ['/judges', judge.id, 'trials'],
    ask: (signal) => call('GET /projects/:project_id/judges/:judge_id/calibration/evaluations', { params, signal }),
  });
  return (
    <div class="stack">
      <Answered answer={useCalibration(judge.id)} rows={3}>
        {({ trial }) => <Start judge={judge} readiness={trial} />}
      </Answered>
      {chosen !== null && <Trial judge={judge} id={chosen} />}
      <Answered answer={trials}>
        {(list) =>
          list.length === 0 ? (
            <p class="soft">No trials yet.</p>
          ) : (
            <DataTable
              caption="Trials"
              columns={COLUMNS}
              rows={list}
              idOf={({ id }) => id}
              hrefOf={({ id }) => hrefWith({ trial: id })}
            />
          )
        }
      </Answered>
    </div>
  );
}

const COLUMNS: readonly Column<CalibrationTrialSummaryRead>[] = [
  { name: 'created', label: 'Started', cell: ({ created_at }) => <When at={created_at} /> },
  { name: 'status', label: 'State', cell: ({ status }) => status },
  {
    name: 'version',
    label: 'Instruction',
    named: true,
    figure: true,
    cell: ({ prompt_version }) => `v${prompt_version}`,
  },
  { name: 'held_out', label: 'Spans', named: true, figure: true, cell: ({ held_out }) => held_out },
  { name: 'examples', label: 'Examples', named: true, figure: true, cell: ({ examples }) => examples },
];

function Start({ judge, readiness }: JudgeTabProps & { readonly readiness: CalibrationRead['trial'] }) {
  const [most, setMost] = useState('200');
  const { busy, failure, run } = useAction();
  const { ready, training, held_out, next } = readiness;
  const start = () =>
    run(async () => {
      const body = { max_spans: Number(most) };
      const { id } = await call('POST /projects/:project_id/judges/:judge_id/calibration:evaluate', {
        params: { judge_id: judge.id },
        body,
      });
      announce('Trial started');
      setQuery({ trial: id });
      await judgesChanged(judge.id);
    });
  return (
    <section class="stack">
      <h2>Do corrections help?</h2>
      <p class="soft">
        In a trial, the judge evaluates half of the corrected spans twice: without examples, and with the other half’s
        corrections. Each span takes two model calls, which use tokens; no evaluation is stored.
      </p>
      <dl class="pairs">
        <dt>Examples</dt>
        <dd>
          {counted(training.have, 'corrected span')} available (minimum {training.needed})
        </dd>
        <dt>Evaluated</dt>
        <dd>
          {counted(held_out.have, 'corrected span')} available (minimum {held_out.needed})
        </dd>
      </dl>
      {!ready && <p>{next}</p>}
      <form
        class="line fields"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) start();
        }}
      >
        <Field label="Maximum spans">
          <input
            class="input"
            inputMode="numeric"
            size={6}
            value={most}
            onInput={(event) => setMost(event.currentTarget.value)}
          />
        </Field>
        <Button type="submit" look="main" icon="play" changes busy={busy} refused={ready ? null : next}>
          Start trial
        </Button>
      </form>
      {failure !== null && <Failure error={failure} />}
    </section>
  );
}

const isUnderWay = ({ status }: Pick<CalibrationTrialRead, 'status'>) => status === 'queued' || status === 'running';

/** One trial: how far it is, or what it showed. */
function Trial({ judge, id }: JudgeTabProps & { readonly id: string }) {
  const params = { judge_id: judge.id, job_id: id };
  const [ended, setEnded] = useState(false);
  const answer = useQuery({
    key: ['/judges', judge.id, 'trial', id],
    ask: async (signal) => {
      const trial = await call('GET /projects/:project_id/judges/:judge_id/calibration/evaluations/:job_id', {
        params,
        signal,
      });
      if (!isUnderWay(trial) && !ended) {
        setEnded(true);
        void judgesChanged(judge.id);
      }
      return trial;
    },
    every: ended ? false : EVERY_MS,
    keep: false,
  });
  const cancel = async () => {
    try {
      await call('POST /projects/:project_id/judges/:judge_id/calibration/evaluations/:job_id:cancel', { params });
      announce('Trial canceled');
      await answer.refetch();
    } catch (error) {
      announceError(error);
    }
  };
  return (
    <section class="stack">
      <h2>Trial</h2>
      <Answered answer={answer} rows={3}>
        {(trial) => (
          <>
            <p class="line" role="status">
              <span class="badge">{trial.status}</span>
              {isUnderWay(trial) && (
                <>
                  <progress aria-label="Steps done" max={trial.total ?? 1} value={trial.done} />
                  {trial.done} of {trial.total ?? '…'} {trial.phase}
                  <Button changes onClick={() => void cancel()}>
                    Cancel
                  </Button>
                </>
              )}
              {trial.error !== null && <span class="bad">{trial.error}</span>}
            </p>
            {trial.result !== null && <TrialResult result={trial.result} />}
          </>
        )}
      </Answered>
    </section>
  );
}
