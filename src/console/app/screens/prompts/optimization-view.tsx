import { useState } from 'preact/hooks';
import type { OptimizationRead } from '../../../../features/optimization/http/schema.js';
import { count, counted, money, NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Confirm } from '../../parts/dialog.js';
import { Rate } from '../../parts/rate.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf, hrefWith, place } from '../../state/location.js';
import { CandidateView } from './candidate-view.js';
import { ofPrompt, promptsChanged } from './data.js';
import { isUnderWay, JobState } from './job-state.js';
import type { Result, Candidate } from './optimization-result.js';

interface OptimizationViewProps {
  readonly slug: string;
  readonly job: OptimizationRead;
}

/** An optimization: how far it is, and its candidates beside the version that they are to replace. */
export function OptimizationView({ slug, job }: OptimizationViewProps) {
  const [cancelling, setCancelling] = useState(false);
  const { result, error, base_version } = job;
  return (
    <section class="stack" aria-label="Selected optimization">
      <div class="line apart">
        <h2 class="line">
          From version {base_version} <JobState of={job} />
        </h2>
        <div class="line">
          <a
            class="button quiet"
            href={hrefOf({ screen: 'spans', query: { 'spanhouse.optimization': job.id, range: 'all' } })}
          >
            Model calls
          </a>
          <CopyAsCurl path={ofPrompt(slug, `/optimizations/${job.id}`)} />
          {isUnderWay(job) && (
            <Button look="danger" icon="close" changes onClick={() => setCancelling(true)}>
              Cancel
            </Button>
          )}
        </div>
      </div>
      {isUnderWay(job) && <Progress job={job} />}
      {error !== null && (
        <p class="bad" role="alert">
          Failed: {error}
        </p>
      )}
      {job.status === 'cancelled' && <p>Canceled: no results.</p>}
      {result !== null && <Results slug={slug} job={job} result={result} />}
      {cancelling && <CancelJob slug={slug} job={job} onClose={() => setCancelling(false)} />}
    </section>
  );
}

function Progress({ job: { phase, done, total } }: { readonly job: OptimizationRead }) {
  return (
    <p class="line" role="status">
      <progress aria-label="Progress" max={total ?? 1} {...(total !== null && { value: done })} />
      {phase ?? 'queued'}
      {total !== null && `: ${count(done)} of ${count(total)} steps`}
    </p>
  );
}

function CancelJob({ slug, job, onClose }: OptimizationViewProps & { readonly onClose: () => void }) {
  const { busy, failure, run } = useAction();
  const cancel = () =>
    run(async () => {
      const params = { prompt_slug: slug, job_id: job.id };
      await call('POST /projects/:project_id/prompts/:prompt_slug/optimizations/:job_id:cancel', { params });
      await promptsChanged();
      announce('Optimization canceled');
      onClose();
    });
  return (
    <Confirm title="Cancel optimization?" action="Cancel optimization" busy={busy} onConfirm={cancel} onClose={onClose}>
      <p>Its results so far are lost: {counted(job.done, 'step')}, which used tokens.</p>
      {failure !== null && <Failure error={failure} />}
    </Confirm>
  );
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly arm: Result['current'];
  /** Null: the version that is to be replaced. */
  readonly candidate: Candidate | null;
}

function Results({ slug, job, result }: OptimizationViewProps & { readonly result: Result }) {
  const { current, candidates, problem, missing, spent, metric } = result;
  const rows: Row[] = [
    { id: 'current', name: `Version ${job.base_version}`, arm: current, candidate: null },
    ...candidates.map((candidate, index) => ({
      id: candidate.id,
      name: `Candidate ${index + 1}`,
      arm: candidate,
      candidate,
    })),
  ];
  const asked = place.value.query.get('candidate');
  const chosen = rows.find(({ id }) => id === asked) ?? rows[1];
  return (
    <>
      {problem !== null && <p>Fewer candidates than requested: {problem}</p>}
      {missing > 0 && <p>{counted(missing, 'held-out completion')} no longer stored.</p>}
      <DataTable
        caption="Candidates, best first"
        twoLine={false}
        columns={columnsOf(metric)}
        rows={rows}
        idOf={({ id }) => id}
        hrefOf={({ id }) => hrefWith({ candidate: id === 'current' ? null : id })}
      />
      <p class="soft">
        Bars show 95% confidence intervals from 0 to 1. Total: {counted(spent.calls, 'call')},{' '}
        {count(spent.input_tokens)} input tokens, {count(spent.output_tokens)} output tokens, {money(spent.cost)}.
      </p>
      {chosen?.candidate != null && (
        <CandidateView
          key={chosen.id}
          slug={slug}
          job={job}
          result={result}
          candidate={chosen.candidate}
          name={chosen.name}
        />
      )}
    </>
  );
}

function columnsOf(metric: Result['metric']): Column<Row>[] {
  return [
    {
      name: 'name',
      label: 'Prompt',
      cell: ({ name, candidate }) =>
        candidate?.promoted_version == null ? name : `${name}, now version ${candidate.promoted_version}`,
    },
    {
      name: 'rate',
      label: 'Passed',
      cell: ({ arm: { pass_rate, pass_rate_interval, passed, count: of } }) => (
        <span class="line">
          <Rate of={pass_rate} interval={pass_rate_interval} />
          <span class="soft">
            {count(passed)} of {count(of)}
          </span>
        </span>
      ),
    },
    ...(metric === 'score'
      ? [
          {
            name: 'score',
            label: 'Mean score',
            cell: ({ arm: { mean_score, mean_score_interval } }: Row) =>
              `${figure(mean_score)}${between(mean_score_interval)}`,
          },
        ]
      : []),
    {
      name: 'difference',
      label: 'Difference',
      cell: ({ candidate }) =>
        candidate === null ? NOTHING : `${signed(candidate.difference)}${between(candidate.difference_interval)}`,
    },
    {
      name: 'wins',
      label: 'Better, worse, same',
      cell: ({ candidate }) =>
        candidate === null ? NOTHING : `${count(candidate.wins)}, ${count(candidate.losses)}, ${count(candidate.ties)}`,
    },
    { name: 'failed', label: 'Failed calls', figure: true, cell: ({ arm }) => count(arm.failed) },
    { name: 'cost', label: 'Cost', figure: true, cell: ({ arm }) => money(arm.spent.cost) },
  ];
}

const FIGURE = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

function figure(value: number | null): string {
  return value === null ? NOTHING : FIGURE.format(value).replace('-', '−');
}

function signed(value: number | null): string {
  return value !== null && value > 0 ? `+${figure(value)}` : figure(value);
}

function between(interval: { readonly low: number; readonly high: number } | null): string {
  return interval === null ? '' : ` (${signed(interval.low)} to ${signed(interval.high)})`;
}
