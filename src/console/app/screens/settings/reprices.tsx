import { useEffect, useRef, useState } from 'preact/hooks';
import type { RepriceJobRead } from '../../../../features/prices/http/schema.js';
import { count, counted } from '../../../model/format.js';
import { writeTime } from '../../../model/time.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { zone } from '../../state/preferences.js';
import { useQuery } from '../../state/query.js';
import { CancelJob } from './cancel-job.js';
import { pricesChanged } from './price-calls.js';
import { RepriceDialog } from './reprice-dialog.js';

/** Most jobs that are listed. */
const MAX = 100;

const isUnderWay = ({ finished_at }: RepriceJobRead) => finished_at === null;

/** Jobs that calculate stored costs again, as they continue. */
export function Reprices() {
  const [starting, setStarting] = useState(false);
  /** The jobs that had ended as of the last answer. */
  const known = useRef<ReadonlySet<string> | null>(null);
  const path = ofProject('/model-prices/reprices');
  const answer = useQuery({
    key: [path],
    ask: (signal) => call('GET /projects/:project_id/model-prices/reprices', { signal }),
    every: (jobs) => (jobs?.some(isUnderWay) === true ? 1000 : false),
    keep: false,
  });
  useEffect(() => {
    const jobs = answer.data;
    const ended = jobs === undefined ? null : new Set(jobs.filter((job) => !isUnderWay(job)).map(({ id }) => id));
    const before = known.current;
    known.current = ended;
    // A quick job has ended before it is first listed.
    if (before === null || ended === null || [...ended].every((id) => before.has(id))) return;
    announce('Costs recalculated');
    void pricesChanged();
  }, [answer.data]);
  return (
    <section class="stack" aria-labelledby="reprices">
      <div class="line apart">
        <h2 id="reprices">Recalculate costs</h2>
        <div class="line">
          <CopyAsCurl path={path} />
          <Button icon="refresh" changes onClick={() => setStarting(true)}>
            Recalculate costs
          </Button>
        </div>
      </div>
      <Answered answer={answer} rows={2}>
        {(jobs) =>
          jobs.length === 0 ? (
            <p class="soft">No recalculations yet.</p>
          ) : (
            <>
              <DataTable caption="Cost recalculations" columns={COLUMNS} rows={jobs} idOf={({ id }) => id} />
              <p class="soft">{jobs.length < MAX ? counted(jobs.length, 'job') : 'Showing the newest 100 jobs'}</p>
            </>
          )
        }
      </Answered>
      {starting && <RepriceDialog onClose={() => setStarting(false)} />}
    </section>
  );
}

const COLUMNS: readonly Column<RepriceJobRead>[] = [
  { name: 'scope', label: 'Calls', cell: (job) => <bdi>{scopeOf(job)}</bdi> },
  {
    name: 'status',
    label: 'State',
    cell: ({ status, error }) => (
      <span class={`badge ${{ done: 'good', failed: 'bad' }[status as string] ?? ''}`} title={error ?? undefined}>
        {status}
      </span>
    ),
  },
  { name: 'progress', label: 'Checked', named: true, figure: true, cell: (job) => <Progress job={job} /> },
  { name: 'changed', label: 'Changed', figure: true, named: true, cell: ({ changed }) => count(changed) },
  { name: 'made', label: 'Started', named: true, cell: ({ created_at }) => <When at={created_at} /> },
  { name: 'ended', label: 'Ended', named: true, cell: ({ finished_at }) => <When at={finished_at} /> },
  { name: 'actions', label: 'Actions', cell: (job) => isUnderWay(job) && <Cancel job={job} /> },
];

function scopeOf({ provider, model, started_after, started_before }: RepriceJobRead): string {
  const time = (at: string) => writeTime(at, zone.value);
  const parts = [
    provider ?? '',
    model ?? '',
    started_after === null ? '' : `from ${time(started_after)}`,
    started_before === null ? '' : `until ${time(started_before)}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'all' : parts.join(', ');
}

function Progress({ job: { done, total, finished_at } }: { readonly job: RepriceJobRead }) {
  return (
    <>
      {finished_at === null && (
        <progress aria-label="Spans checked" {...(total !== null && { max: Math.max(1, total), value: done })} />
      )}{' '}
      {count(done)} of {count(total)}
    </>
  );
}

function Cancel({ job: { id } }: { readonly job: RepriceJobRead }) {
  const path = 'POST /projects/:project_id/model-prices/reprices/:job_id:cancel';
  const cancel = () => call(path, { params: { job_id: id } });
  return <CancelJob label="Cancel" cancel={cancel} list={ofProject('/model-prices/reprices')} />;
}
