import { useState } from 'preact/hooks';
import { VERDICTS } from '../../../../features/comparisons/comparison.js';
import { Button } from '../../parts/button.js';
import { Choice } from '../../parts/choice.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Pager } from '../../parts/pager.js';
import { Answered, Empty } from '../../parts/states.js';
import { ofProject } from '../../state/api.js';
import { base, hrefOf, hrefWith, place } from '../../state/location.js';
import { useExperiment } from '../experiments/data.js';
import { TagsShown } from '../experiments/experiment-state.js';
import { offsetAsked } from '../prompts/asked.js';
import { useComparisons, type ListedComparison } from './data.js';
import { DeleteComparison } from './delete-comparison.js';
import { VerdictBadge } from './verdict-badge.js';

const PAGE = 50;

/** Every comparison of the project, or those of one experiment. */
export function ComparisonList() {
  const { query } = place.value;
  const [experiment, verdict] = [query.get('experiment_id') ?? '', query.get('verdict') ?? ''];
  const asked = {
    limit: PAGE,
    offset: offsetAsked(),
    ...(experiment !== '' && { experiment_id: experiment }),
    ...(verdict !== '' && { verdict }),
  };
  const answer = useComparisons(asked);
  const isNarrowed = experiment !== '' || verdict !== '';
  const all = hrefWith({ experiment_id: null, verdict: null, offset: null });
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>Comparisons</h1>
        <div class="line">
          <CopyAsCurl path={ofProject('/comparisons')} query={asked} />
          <a class="button main" href={hrefOf({ screen: 'comparisons', id: 'new' })}>
            <Icon name="plus" /> New comparison
          </a>
        </div>
      </header>
      <Answered answer={answer}>
        {({ rows, total }) =>
          total === 0 && !isNarrowed ? (
            <NoComparisons />
          ) : (
            <div class="stack">
              <div class="line">
                <Choice label="Verdict" name="verdict" options={VERDICTS.map((one) => [one, one] as const)} />
                {experiment !== '' && <OfExperiment id={experiment} />}
                {isNarrowed && <a href={all}>Show all comparisons</a>}
              </div>
              {rows.length === 0 ? <Empty title="No comparisons match" /> : <Listed comparisons={rows} />}
              <Pager offset={asked.offset} limit={PAGE} shown={rows.length} total={total} />
            </div>
          )
        }
      </Answered>
    </div>
  );
}

function OfExperiment({ id }: { readonly id: string }) {
  const name = useExperiment(id).data?.name ?? id;
  return (
    <span>
      Comparisons of{' '}
      <a href={hrefOf({ screen: 'experiments', id })}>
        <bdi>{name}</bdi>
      </a>
    </span>
  );
}

function NoComparisons() {
  return (
    <Empty title="No comparisons yet">
      <p>
        A comparison compares a new version with the one in use, row by row of one dataset. It says whether the new one
        is worse, and whether the dataset is large enough to tell.
      </p>
      <p>
        Select two finished <a href={hrefOf({ screen: 'experiments' })}>experiments</a> of a dataset and press
        “Compare”, or <a href={`${base}/docs/comparisons`}>compare in CI</a>.
      </p>
    </Empty>
  );
}

function Listed({ comparisons }: { readonly comparisons: readonly ListedComparison[] }) {
  const [deleting, setDeleting] = useState<ListedComparison | null>(null);
  const columns: Column<ListedComparison>[] = [
    {
      name: 'candidate',
      label: 'Candidate',
      cell: ({ candidate }) => <bdi>{candidate.name}</bdi>,
      full: ({ candidate }) => candidate.name,
    },
    {
      name: 'baseline',
      label: 'Baseline',
      named: true,
      cell: ({ baseline }) => (
        <span class="line">
          <bdi class="clip">{baseline.name}</bdi> <TagsShown tags={baseline.tag === null ? [] : [baseline.tag]} />
        </span>
      ),
      full: ({ baseline }) => baseline.name,
    },
    { name: 'verdict', label: 'Verdict', cell: ({ verdict }) => <VerdictBadge of={verdict} /> },
    {
      name: 'dataset',
      label: 'Dataset',
      cell: ({ dataset, candidate }) => (
        <>
          <bdi>{dataset.name}</bdi> v{candidate.dataset_version}
        </>
      ),
    },
    { name: 'created', label: 'Created', cell: ({ created_at }) => <When at={created_at} relative /> },
    {
      name: 'actions',
      label: 'Actions',
      cell: (comparison) => (
        <Button
          look="quiet"
          icon="trash"
          changes
          label={`Delete comparison of ${comparison.candidate.name}`}
          onClick={() => setDeleting(comparison)}
        />
      ),
    },
  ];
  return (
    <>
      <DataTable
        caption="Comparisons"
        columns={columns}
        rows={comparisons}
        idOf={({ id }) => id}
        hrefOf={({ id }) => hrefOf({ screen: 'comparisons', id })}
      />
      {deleting !== null && <DeleteComparison comparison={deleting} onClose={() => setDeleting(null)} />}
    </>
  );
}
