import type { ListedJudgeRead } from '../../../../features/judge-figures/schema.js';
import type { JudgeRead } from '../../../../features/judges/schema.js';
import { count, percent } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Pager } from '../../parts/pager.js';
import { Rate } from '../../parts/rate.js';
import { Answered, Empty } from '../../parts/states.js';
import { ofProject } from '../../state/api.js';
import { hrefOf, navigate } from '../../state/location.js';
import { RECENT, offsetShown, PAGE, useListedJudges } from './data.js';

/** Every judge of the project, with what it found lately. */
export function JudgeList() {
  const offset = offsetShown();
  const answer = useListedJudges(offset, PAGE);
  const make = () => navigate(hrefOf({ screen: 'judges', id: 'new' }));
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>Judges</h1>
        <div class="line">
          <CopyAsCurl path={ofProject('/judges')} />
          <Button look="main" icon="plus" changes onClick={make}>
            New judge
          </Button>
        </div>
      </header>
      <Answered answer={answer}>
        {({ rows, total }) =>
          total === 0 ? (
            <NoJudges onMake={make} />
          ) : (
            <>
              <DataTable
                caption="Judges"
                columns={COLUMNS}
                rows={rows}
                idOf={({ id }) => id}
                hrefOf={({ id }) => hrefOf({ screen: 'judges', id })}
              />
              <Pager offset={offset} limit={PAGE} shown={rows.length} total={total} />
            </>
          )
        }
      </Answered>
    </div>
  );
}

function NoJudges({ onMake }: { readonly onMake: () => void }) {
  return (
    <Empty title="No judges yet">
      <p>
        A judge is a model with an instruction. It evaluates new spans: each passes or fails, with a reason. Correct its
        mistakes, and it learns from them.
      </p>
      <Button look="main" icon="plus" changes onClick={onMake}>
        New judge
      </Button>
    </Empty>
  );
}

const COLUMNS: readonly Column<ListedJudgeRead>[] = [
  { name: 'name', label: 'Judge', cell: ({ name }) => <bdi>{name}</bdi>, full: ({ name }) => name },
  { name: 'state', label: 'State', cell: (judge) => <JudgeState judge={judge} /> },
  { name: 'type', label: 'Type', cell: ({ evaluation_type }) => evaluation_type },
  { name: 'sampling', label: 'Sample', figure: true, named: true, cell: ({ sample_rate }) => percent(sample_rate) },
  {
    name: 'queued',
    label: 'Queue',
    figure: true,
    named: true,
    cell: (judge) => <Counted judge={judge} of="queued" query={{ tab: 'queue', state: 'queued' }} />,
  },
  {
    name: 'failed',
    label: 'Failed',
    figure: true,
    named: true,
    cell: (judge) => <Counted judge={judge} of="failed" query={{ tab: 'queue', state: 'failed' }} />,
  },
  {
    name: 'evaluations',
    label: 'Evaluations, 7 days',
    figure: true,
    named: true,
    cell: (judge) => <Counted judge={judge} of="evaluations" query={{ tab: 'evaluations', start_date: RECENT }} />,
  },
  {
    name: 'rate',
    label: 'Passed, 7 days',
    named: true,
    cell: ({ figures }) => <Rate of={figures?.rate ?? null} interval={figures?.rate_interval ?? null} />,
  },
  {
    name: 'kappa',
    label: 'κ, latest version',
    named: true,
    cell: ({ figures }) => <Rate of={figures?.kappa ?? null} interval={figures?.kappa_interval ?? null} kind="kappa" />,
  },
  { name: 'updated', label: 'Updated', named: true, cell: ({ updated_at }) => <When at={updated_at} relative /> },
];

interface CountedProps {
  readonly judge: ListedJudgeRead;
  readonly of: 'queued' | 'failed' | 'evaluations';
  readonly query: Readonly<Record<string, string>>;
}

function Counted({ judge: { id, figures }, of, query }: CountedProps) {
  return <a href={hrefOf({ screen: 'judges', id, query })}>{count(figures?.[of] ?? null)}</a>;
}

/** Whether a judge evaluates new spans, and why not. */
export function JudgeState({ judge }: { readonly judge: JudgeRead }) {
  if (!judge.enabled) return <span class="badge">disabled</span>;
  if (judge.runnable) return <span class="badge good">enabled</span>;
  return (
    <span class="badge bad" title={judge.not_runnable_reason ?? undefined}>
      <Icon name="warning" /> cannot run
    </span>
  );
}
