import { useState } from 'preact/hooks';
import type { Experiment } from '../../../model/experiments.js';
import { count, compact, NOTHING } from '../../../model/format.js';
import type { JudgeFigures } from '../../../model/judge-runs.js';
import { shortVersion } from '../../../model/judge-version-text.js';
import { Button } from '../../parts/button.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Rate } from '../../parts/rate.js';
import { hrefOf } from '../../state/location.js';
import { useEvaluations } from '../judges/lists.js';
import { RunJudge } from './run-judge.js';

/** What judges said of the results, by the version that evaluated them, and how one is run. */
export function JudgeResults({ experiment }: { readonly experiment: Experiment }) {
  const [running, setRunning] = useState(false);
  const { judges = [], status, figures } = experiment;
  const refused =
    status === 'running'
      ? 'Wait until the experiment is finished'
      : figures.results === 0
        ? 'There are no results to evaluate'
        : null;
  return (
    <section class="stack" aria-label="Judges">
      <div class="line apart">
        <h2>Judges</h2>
        <Button icon="judges" changes="judges:write" refused={refused} onClick={() => setRunning(true)}>
          Run a judge
        </Button>
      </div>
      {judges.length === 0 ? (
        <p class="soft">No judge has evaluated these results. Run one to compare by its verdicts.</p>
      ) : (
        <DataTable
          caption="Judges"
          columns={columnsFor(experiment, judges)}
          rows={judges}
          idOf={({ judge_version }) => judge_version}
          hrefOf={(judge) => evaluationsOf(experiment, judge)}
        />
      )}
      {running && <RunJudge experiment={experiment} onClose={() => setRunning(false)} />}
    </section>
  );
}

function evaluationsOf(
  { id }: Experiment,
  { judge_id, judge_version }: JudgeFigures,
  more: Record<string, string> = {},
) {
  const query = { tab: 'evaluations', experiment_id: id, judge_version, ...more };
  return hrefOf({ screen: 'judges', id: judge_id, query });
}

function columnsFor(experiment: Experiment, judges: readonly JudgeFigures[]): Column<JudgeFigures>[] {
  return [
    { name: 'judge', label: 'Judge', cell: ({ name }) => <bdi>{name}</bdi>, full: ({ name }) => name },
    {
      name: 'version',
      label: 'Version',
      named: true,
      cell: ({ judge_version, available }) => (
        <span class="line">
          <code>{shortVersion(judge_version)}</code>
          {!available && <span class="badge warn">unavailable</span>}
        </span>
      ),
      full: ({ judge_version, available }) =>
        available ? judge_version : `${judge_version}: a span whose correction it shows was deleted`,
    },
    {
      name: 'passed',
      label: 'Pass rate',
      named: true,
      cell: ({ rate, passed, evaluated }) => (
        <Rate of={rate} interval={null} about={`${count(passed)} of ${count(evaluated)} passed`} wide />
      ),
    },
    ...(judges.some(({ evaluation_type }) => evaluation_type === 'scored')
      ? [
          {
            name: 'mean',
            label: 'Mean score',
            named: true,
            figure: true,
            cell: ({ mean }: JudgeFigures) => compact(mean),
          },
        ]
      : []),
    {
      name: 'evaluated',
      label: 'Evaluated',
      named: true,
      cell: (judge) => <Evaluated of={judge} results={experiment.figures.results} />,
    },
    {
      name: 'failed',
      label: 'Failed',
      named: true,
      figure: true,
      about: 'Evaluations that failed; run the judge again to retry them',
      cell: ({ failed, judge_id }) =>
        failed === 0 ? (
          '0'
        ) : (
          <a class="bad" href={hrefOf({ screen: 'judges', id: judge_id, query: { tab: 'queue', state: 'failed' } })}>
            {count(failed)}
          </a>
        ),
    },
    {
      name: 'disagreements',
      label: 'Disagreements',
      named: true,
      figure: true,
      about: 'Evaluations that someone marked as wrong',
      cell: (judge) => <Disagreements experiment={experiment} judge={judge} />,
    },
  ];
}

/** How many results are evaluated, and how far that is while more are queued. */
function Evaluated({ of: { evaluated, pending }, results }: { readonly of: JudgeFigures; readonly results: number }) {
  return (
    <span class="line">
      {pending > 0 && <progress aria-label="Results evaluated" value={evaluated} max={evaluated + pending} />}
      {count(evaluated)} of {count(results)}
    </span>
  );
}

interface DisagreementsProps {
  readonly experiment: Experiment;
  readonly judge: JudgeFigures;
}

function Disagreements({ experiment, judge }: DisagreementsProps) {
  const agreement = 'disagreed';
  const asked = { experiment_id: experiment.id, judge_version: judge.judge_version, agreement, limit: 1 };
  const total = useEvaluations(judge.judge_id, asked).data?.total;
  if (total === undefined) return <>{NOTHING}</>;
  return total === 0 ? <>0</> : <a href={evaluationsOf(experiment, judge, { agreement })}>{count(total)}</a>;
}
