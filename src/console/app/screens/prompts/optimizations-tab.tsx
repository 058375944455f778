import { useState } from 'preact/hooks';
import type {
  OptimizationReadinessRead,
  OptimizationSummaryRead,
} from '../../../../features/optimization/http/schema.js';
import { count, NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Answered, Empty } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { hrefOf, hrefWith, place, setQuery } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { ofPrompt, promptsChanged } from './data.js';
import { OptimizationView } from './optimization-view.js';
import { OptimizationStart } from './optimization-start.js';
import type { TabProps } from './tab-props.js';
import { isUnderWay, JobState } from './job-state.js';

/** How often a job in progress is asked for, in milliseconds. */
const POLL = 1000;

/** Better versions of the prompt, written by a model from feedback: whether it can be done, what was done (`job`). */
export function OptimizationsTab({ slug, latest }: TabProps) {
  const [starting, setStarting] = useState(false);
  const params = { prompt_slug: slug };
  const readiness = useQuery({
    key: ['/prompts', slug, 'readiness'],
    ask: (signal) => call('GET /projects/:project_id/prompts/:prompt_slug/optimizations:readiness', { params, signal }),
  });
  const jobs = useQuery({
    key: ['/prompts', slug, 'optimizations'],
    ask: (signal) => call('GET /projects/:project_id/prompts/:prompt_slug/optimizations', { params, signal }),
  });
  const chosen = place.value.query.get('job');
  return (
    <div class="stack">
      <Answered answer={readiness} rows={3}>
        {(ready) => <Readiness slug={slug} readiness={ready} onStart={() => setStarting(true)} />}
      </Answered>
      <div class="line apart">
        <h2>Optimizations</h2>
        <CopyAsCurl path={ofPrompt(slug, '/optimizations')} />
      </div>
      <Answered answer={jobs}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No optimizations yet">
              <p>
                A model writes candidates from half of the feedback; each is tested on the other half against the
                current version. Nothing changes until you promote one.
              </p>
            </Empty>
          ) : (
            <Jobs jobs={all} chosen={chosen} />
          )
        }
      </Answered>
      {chosen !== null && <Job key={chosen} slug={slug} id={chosen} />}
      {starting && (
        <OptimizationStart
          slug={slug}
          latest={latest}
          onClose={() => setStarting(false)}
          onStarted={({ id }) => setQuery({ job: id })}
        />
      )}
    </div>
  );
}

interface ReadinessProps {
  readonly slug: string;
  readonly readiness: OptimizationReadinessRead;
  readonly onStart: () => void;
}

function Readiness({ slug, readiness, onStart }: ReadinessProps) {
  const { ready, next, training, held_out, base_version, base_version_reason, model } = readiness;
  const half = ({ have, needed }: OptimizationReadinessRead['training']) => (
    <span class={have >= needed ? 'good' : ''}>
      {count(have)} available (minimum {count(needed)})
    </span>
  );
  return (
    <section class="card stack" aria-label="Readiness">
      <div class="line apart">
        <h2 class="line">
          <Icon name={ready ? 'check' : 'info'} /> {ready ? 'Enough feedback to start' : 'Not enough feedback yet'}
        </h2>
        <div class="line">
          <a class="button" href={hrefOf({ screen: 'review', query: { prompt: slug } })}>
            Review completions
          </a>
          <Button look="main" icon="play" changes onClick={onStart}>
            Optimize
          </Button>
        </div>
      </div>
      {!ready && <p>{next}</p>}
      <dl class="pairs">
        <dt>Training</dt>
        <dd>{half(training)}</dd>
        <dt>Held-out</dt>
        <dd>{half(held_out)}</dd>
        <dt>Base version</dt>
        <dd>
          Version {base_version}: {base_version_reason}
        </dd>
        <dt>Model</dt>
        <dd>
          <bdi>{model ?? NOTHING}</bdi>
        </dd>
      </dl>
    </section>
  );
}

const COLUMNS: readonly Column<OptimizationSummaryRead>[] = [
  { name: 'created', label: 'Started', cell: ({ created_at }) => <When at={created_at} /> },
  { name: 'status', label: 'State', cell: (job) => <JobState of={job} /> },
  { name: 'base', label: 'Base version', cell: ({ base_version }) => `v${base_version}` },
  { name: 'model', label: 'Model', cell: ({ model }) => <bdi>{model}</bdi> },
  {
    name: 'by',
    label: 'Evaluated by',
    cell: ({ compared_by, judge_id }) =>
      judge_id === null ? (
        `the ${compared_by}`
      ) : (
        <a href={hrefOf({ screen: 'judges', id: judge_id })}>the {compared_by}</a>
      ),
  },
  { name: 'training', label: 'Training', figure: true, cell: ({ training }) => count(training) },
  { name: 'held_out', label: 'Held-out', figure: true, cell: ({ held_out }) => count(held_out) },
  { name: 'finished', label: 'Ended', cell: ({ finished_at }) => <When at={finished_at} /> },
];

function Jobs({ jobs, chosen }: { readonly jobs: readonly OptimizationSummaryRead[]; readonly chosen: string | null }) {
  return (
    <>
      <DataTable
        caption="Optimizations"
        columns={COLUMNS}
        rows={jobs}
        idOf={({ id }) => id}
        hrefOf={({ id }) => hrefWith({ job: id, offset: null })}
      />
      {jobs.length === 100 && <p class="soft">Showing the newest 100.</p>}
      {chosen === null && <p class="soft">Choose one to see its candidates.</p>}
    </>
  );
}

/** A job, asked for again and again until it has ended. */
function Job({ slug, id }: { readonly slug: string; readonly id: string }) {
  const [every, setEvery] = useState<number | false>(POLL);
  const answer = useQuery({
    key: ['/prompts', slug, 'optimizations', id],
    ask: async (signal) => {
      const params = { prompt_slug: slug, job_id: id };
      const job = await call('GET /projects/:project_id/prompts/:prompt_slug/optimizations/:job_id', {
        params,
        signal,
      });
      if (!isUnderWay(job) && every !== false) {
        setEvery(false);
        void promptsChanged();
      }
      return job;
    },
    every,
  });
  return <Answered answer={answer}>{(job) => <OptimizationView slug={slug} job={job} />}</Answered>;
}
