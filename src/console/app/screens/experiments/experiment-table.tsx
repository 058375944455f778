import { useState } from 'preact/hooks';
import {
  BASELINE,
  commonScores,
  meanText,
  sideOfTag,
  sidesOf,
  subjectLine,
  type Experiment,
} from '../../../model/experiments.js';
import { count, NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Cost, Took, When } from '../../parts/figures.js';
import { hrefOf, navigate } from '../../state/location.js';
import { ExperimentState, TagsShown } from './experiment-state.js';

/** Scores whose means have a column. */
const SCORES = 4;

interface TableProps {
  readonly experiments: readonly Experiment[];
  /** Whether all of them are on one dataset, which nothing has to say then. */
  readonly ofOneDataset?: boolean;
}

/** Experiments, two of which can be chosen to be compared. */
export function ExperimentTable({ experiments, ofOneDataset = false }: TableProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const found = experiments.filter(({ id }) => chosen.has(id));
  return (
    <div class="stack many-columns">
      <CompareLine chosen={found} />
      <DataTable
        caption="Experiments"
        columns={columnsFor(experiments).filter(({ name }) => !ofOneDataset || name !== 'dataset')}
        rows={experiments}
        idOf={({ id }) => id}
        hrefOf={({ id }) => hrefOf({ screen: 'experiments', id })}
        selection={{ chosen, onChange: setChosen }}
      />
    </div>
  );
}

function CompareLine({ chosen }: { readonly chosen: readonly Experiment[] }) {
  const [one, other] = chosen;
  const refused =
    one === undefined || other === undefined || chosen.length > 2
      ? 'Select two experiments'
      : one.dataset.id === other.dataset.id
        ? null
        : 'They are on different datasets';
  const compare = () => {
    if (one === undefined || other === undefined) return;
    const { candidate, baseline } = sidesOf(one, other);
    const side = baseline.tags.includes(BASELINE) ? sideOfTag(BASELINE) : baseline.id;
    const query = { candidate: candidate.id, baseline: side };
    navigate(hrefOf({ screen: 'comparisons', id: 'new', query }));
  };
  return (
    <p class="line">
      <Button icon="diff" changes refused={refused} onClick={compare}>
        Compare
      </Button>
      <span class="soft">{chosen.length === 0 ? 'Select two to compare them.' : `${chosen.length} selected`}</span>
    </p>
  );
}

function columnsFor(experiments: readonly Experiment[]): Column<Experiment>[] {
  return [
    {
      name: 'name',
      label: 'Experiment',
      cell: ({ name, tags }) => (
        <span class="line">
          <bdi class="clip">{name}</bdi>
          <TagsShown tags={tags} />
        </span>
      ),
      full: ({ name }) => name,
    },
    {
      name: 'dataset',
      label: 'Dataset',
      cell: (experiment) => <DatasetLink of={experiment} />,
      full: ({ dataset }) => dataset.name,
    },
    {
      name: 'subject',
      label: 'Subject',
      cell: ({ subject }) => <bdi class="experiment-text">{subjectLine(subject) || NOTHING}</bdi>,
      full: ({ subject }) => subjectLine(subject),
    },
    { name: 'state', label: 'Status', cell: (experiment) => <ExperimentState of={experiment} /> },
    { name: 'created', label: 'Created', cell: ({ created_at }) => <When at={created_at} relative /> },
    ...commonScores(experiments, SCORES).map((name): Column<Experiment> => ({
      name: `score ${name}`,
      label: name.slice(0, 40),
      named: true,
      figure: true,
      about: `Mean of ${name}; of a boolean, the share that is true`,
      cell: (experiment) => meanText(experiment, name),
    })),
    {
      name: 'errors',
      label: 'Errors',
      named: true,
      figure: true,
      cell: ({ figures }) => <Errors of={figures.errors} />,
    },
    { name: 'cost', label: 'Cost', named: true, figure: true, cell: ({ figures }) => <Cost of={figures.cost} /> },
    {
      name: 'p50',
      label: 'p50',
      named: true,
      figure: true,
      cell: ({ figures }) => <Took ms={figures.duration_ms_p50} />,
    },
    {
      name: 'p95',
      label: 'p95',
      named: true,
      figure: true,
      cell: ({ figures }) => <Took ms={figures.duration_ms_p95} />,
    },
  ];
}

function Errors({ of }: { readonly of: number }) {
  return <span class={of > 0 ? 'bad' : ''}>{count(of)}</span>;
}

/** The version of the dataset, which it leads to while it is there. */
export function DatasetLink({ of: { dataset, dataset_version } }: { readonly of: Experiment }) {
  const text = (
    <>
      <bdi>{dataset.name}</bdi> v{dataset_version}
    </>
  );
  if (dataset.gone) return <span title="The dataset was deleted">{text}</span>;
  const query = { version: String(dataset_version) };
  return (
    <a class="experiment-text" href={hrefOf({ screen: 'datasets', id: dataset.name, query })}>
      {text}
    </a>
  );
}
