import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunRead } from '../../../../features/judges/run-schema.js';
import { count, counted, NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { Choice } from '../../parts/choice.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Pager } from '../../parts/pager.js';
import { SpanLink } from '../../parts/span-link.js';
import { Answered, Empty, Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { hrefOf, place } from '../../state/location.js';
import { offsetShown, ofJudge, PAGE, useRuns } from './data.js';
import { judgesChanged } from './lists.js';
import type { JudgeTabProps } from './tab-props.js';
import { runOf, subjectIdOf } from '../../../model/judge-subjects.js';
import { retryFailed, runJudge } from './run-dialog.js';

/** While something waits, it is asked again so often. */
const EVERY_MS = 2000;
const NONE: ReadonlySet<string> = new Set();

/** What waits, what is in progress and what failed, to be tried again. */
export function QueueTab({ judge }: JudgeTabProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(NONE);
  const { busy, failure, run } = useAction();
  const state = place.value.query.get('state');
  const asked = { state, limit: PAGE, offset: offsetShown() };
  const left = useWaiting(judge.id);
  const answer = useRuns(judge.id, asked, left > 0 && EVERY_MS);
  const runs = answer.data?.runs ?? [];
  const failed = useRuns(judge.id, { state: 'failed', limit: 1 }, false).data?.total ?? 0;
  const again = new Set(runs.filter(({ id }) => chosen.has(id)).map(subjectIdOf));
  const retry = () =>
    run(async () => {
      await (again.size > 0 ? runJudge(judge.id, runOf(judge.subject, [...again])) : retryFailed(judge.id));
      setChosen(NONE);
    });
  return (
    <div class="stack">
      <Progress left={left} />
      <div class="line apart">
        <div class="line fields">
          <Choice
            label="State"
            name="state"
            options={[
              ['queued', 'queued'],
              ['running', 'running'],
              ['failed', 'failed'],
            ]}
          />
          {(again.size > 0 || failed > 0) && (
            <Button icon="refresh" changes busy={busy} onClick={retry}>
              {again.size > 0
                ? `Re-evaluate ${counted(again.size, judge.subject)}`
                : `Retry all failed (${count(failed)})`}
            </Button>
          )}
        </div>
        <CopyAsCurl path={ofJudge(judge.id, '/runs')} query={asked} />
      </div>
      {failure !== null && <Failure error={failure} />}
      <Answered answer={answer}>
        {({ total }) =>
          total === 0 ? (
            <Empty title={state === null ? 'Queue is empty' : `No ${state} evaluations`}>
              <p>
                See finished evaluations under{' '}
                <a href={hrefOf({ screen: 'judges', id: judge.id, query: { tab: 'evaluations' } })}>Evaluations</a>. Use
                “Run…” above to evaluate past spans.
              </p>
            </Empty>
          ) : (
            <>
              <DataTable
                caption="Queued and failed evaluations"
                columns={COLUMNS}
                rows={runs}
                idOf={({ id }) => id}
                selection={{ chosen, onChange: setChosen }}
              />
              <Pager offset={asked.offset} limit={PAGE} shown={runs.length} total={total} />
              <p class="soft small">
                The newest 10,000 failures are kept. Retrying all skips spans evaluated or queued since.
              </p>
            </>
          )
        }
      </Answered>
    </div>
  );
}

/** How many evaluations wait or are in progress. What was found since is asked for when they become fewer. */
function useWaiting(id: string): number {
  const [every, setEvery] = useState(EVERY_MS);
  const queued = useRuns(id, { state: 'queued', limit: 1 }, every).data?.total ?? 0;
  const running = useRuns(id, { state: 'running', limit: 1 }, every).data?.total ?? 0;
  const left = queued + running;
  const before = useRef(left);
  useEffect(() => {
    setEvery(left > 0 ? EVERY_MS : 5 * EVERY_MS);
    if (left < before.current) void judgesChanged(id);
    before.current = left;
  }, [left]);
  return left;
}

/** How much of what waited when it was most is done. */
function Progress({ left }: { readonly left: number }) {
  const most = useRef(0);
  if (left === 0) most.current = 0;
  else most.current = Math.max(most.current, left);
  if (left === 0)
    return (
      <p class="soft" role="status">
        Queue is empty.
      </p>
    );
  return (
    <p class="line" role="status">
      <progress aria-label="Evaluations done" value={most.current - left} max={most.current} />
      {counted(left, 'evaluation')} left{most.current > left && ` of ${count(most.current)}`}
    </p>
  );
}

const COLUMNS: readonly Column<RunRead>[] = [
  { name: 'span', label: 'Span', cell: ({ span_id, trace_id }) => <SpanLink id={span_id} traceId={trace_id} /> },
  {
    name: 'state',
    label: 'State',
    cell: ({ state }) => <span class={state === 'failed' ? 'badge bad' : 'badge'}>{state}</span>,
  },
  {
    name: 'reason',
    label: 'Reason for the last failure',
    cell: ({ reason }) => (reason === null ? NOTHING : <bdi>{reason}</bdi>),
    full: ({ reason }) => reason ?? undefined,
  },
  { name: 'attempts', label: 'Attempts', named: true, figure: true, cell: ({ attempts }) => count(attempts) },
  { name: 'next', label: 'Next attempt', named: true, cell: ({ next_attempt_at }) => <When at={next_attempt_at} /> },
  { name: 'origin', label: 'Origin', named: true, cell: ({ origin }) => origin },
  { name: 'created', label: 'Queued', named: true, cell: ({ created_at }) => <When at={created_at} /> },
];
