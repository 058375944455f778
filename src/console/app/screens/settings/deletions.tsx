import type { DeletionJobRead } from '../../../../features/deletion/schema.js';
import { count, counted } from '../../../model/format.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { useQuery } from '../../state/query.js';
import { CancelJob } from './cancel-job.js';

/** Most jobs that are listed. */
const MAX = 100;

export const isUnderWay = ({ finished_at }: Pick<DeletionJobRead, 'finished_at'>) => finished_at === null;

/** Jobs that delete what the filters of lists found, as they continue. */
export function Deletions() {
  const path = ofProject('/deletions');
  const answer = useQuery({
    key: [path],
    ask: (signal) => call('GET /projects/:project_id/deletions', { signal }),
    every: (jobs) => (jobs?.some(isUnderWay) === true ? 1000 : false),
    keep: false,
  });
  return (
    <section class="stack" aria-labelledby="deletions">
      <div class="line apart">
        <h2 id="deletions">Bulk deletions</h2>
        <CopyAsCurl path={path} />
      </div>
      <Answered answer={answer} rows={2}>
        {(jobs) =>
          jobs.length === 0 ? (
            <p class="soft">
              None yet. Filter traces, spans or sessions, and choose “Delete these…” to delete all that match.
            </p>
          ) : (
            <>
              <DataTable caption="Bulk deletions" columns={COLUMNS} rows={jobs} idOf={({ id }) => id} />
              <p class="soft">{jobs.length < MAX ? counted(jobs.length, 'job') : 'Showing the newest 100 jobs'}</p>
            </>
          )
        }
      </Answered>
    </section>
  );
}

const COLUMNS: readonly Column<DeletionJobRead>[] = [
  {
    name: 'filters',
    label: 'Deleted',
    cell: ({ list, query }) => (
      <>
        {list} <bdi class="soft">{query}</bdi>
      </>
    ),
    full: ({ query }) => query,
  },
  {
    name: 'status',
    label: 'State',
    cell: ({ status, error }) => (
      <span class={`badge ${{ done: 'good', failed: 'bad' }[status as string] ?? ''}`} title={error ?? undefined}>
        {status}
      </span>
    ),
  },
  { name: 'progress', label: 'Progress', named: true, figure: true, cell: (job) => <DeletionProgress job={job} /> },
  { name: 'made', label: 'Started', named: true, cell: ({ created_at }) => <When at={created_at} /> },
  { name: 'ended', label: 'Ended', named: true, cell: ({ finished_at }) => <When at={finished_at} /> },
  { name: 'actions', label: 'Actions', cell: (job) => isUnderWay(job) && <CancelDeletion job={job} /> },
];

export function DeletionProgress({ job }: { readonly job: DeletionJobRead }) {
  const { deleted, list } = job;
  const all = job[list];
  return (
    <>
      {isUnderWay(job) && <progress aria-label="Deleted" max={Math.max(1, all)} value={deleted} />} {count(deleted)} of{' '}
      {count(all)} {list} deleted
    </>
  );
}

export function CancelDeletion({ job: { id } }: { readonly job: DeletionJobRead }) {
  const cancel = () => call('POST /projects/:project_id/deletions/:job_id:cancel', { params: { job_id: id } });
  return <CancelJob label="Cancel deletion" cancel={cancel} list={ofProject('/deletions')} />;
}
