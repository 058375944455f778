import { useState } from 'preact/hooks';
import { STATUSES } from '../../../../features/experiments/experiment.js';
import { BASELINE, experimentPrograms, type Experiment } from '../../../model/experiments.js';
import { Choice } from '../../parts/choice.js';
import { Code } from '../../parts/code.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { Button } from '../../parts/button.js';
import { SearchedList } from '../../parts/searched-list.js';
import { Answered, Empty } from '../../parts/states.js';
import { Tabs } from '../../parts/tabs.js';
import { ofProject } from '../../state/api.js';
import { base, hrefOf, place, setQuery } from '../../state/location.js';
import { useDatasets } from '../datasets/data.js';
import { offsetAsked } from '../prompts/asked.js';
import { useExperiments } from './data.js';
import { ExperimentTable } from './experiment-table.js';
import { RunDialog } from './run-dialog.js';

const PAGE = 50;
const FILTERS = ['dataset', 'status', 'tag'] as const;
/** Datasets that can be chosen. */
const DATASETS = 200;

/** Every experiment of the project. */
export function ExperimentList() {
  const query = asked();
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>Experiments</h1>
        <div class="line">
          <RunButton />
          <a class="button" href={hrefOf({ screen: 'comparisons' })}>
            Comparisons
          </a>
          <CopyAsCurl path={ofProject('/experiments')} query={query} />
        </div>
      </header>
      <FoundExperiments query={query} />
    </div>
  );
}

/** The experiments of a dataset. */
export function ExperimentsOf({ dataset }: { readonly dataset: string }) {
  return (
    <div class="stack">
      <div class="line">
        <RunButton dataset={dataset} />
      </div>
      <FoundExperiments query={{ ...asked(), dataset }} dataset={dataset} />
    </div>
  );
}

interface RunButtonProps {
  readonly dataset?: string;
  /** Whether it is the first thing to do. */
  readonly main?: boolean;
}

function RunButton({ dataset, main = false }: RunButtonProps) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button icon="play" look={main ? 'main' : ''} changes onClick={() => setOpened(true)}>
        Run a prompt
      </Button>
      {opened && <RunDialog {...(dataset !== undefined && { dataset })} onClose={() => setOpened(false)} />}
    </>
  );
}

type Asked = { readonly [K in 'q' | (typeof FILTERS)[number]]?: string } & {
  readonly limit: number;
  readonly offset: number;
};

function asked(): Asked {
  const { query } = place.value;
  const given = (['q', ...FILTERS] as const).flatMap((name) => {
    const value = query.get(name) ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(given), limit: PAGE, offset: offsetAsked() };
}

interface FoundProps {
  readonly query: Asked;
  /** The only dataset; absent: any, which can be chosen. */
  readonly dataset?: string;
}

function FoundExperiments({ query, dataset }: FoundProps) {
  const answer = useExperiments(query);
  const filtered = FILTERS.filter((name) => name !== 'dataset' || dataset === undefined);
  const { q = '', limit, offset } = query;
  const isNarrowed = ['q', ...filtered].some((name) => name in query);
  return (
    <Answered answer={answer}>
      {({ experiments, total }) =>
        total === 0 && !isNarrowed ? (
          <NoExperiments {...(dataset !== undefined && { dataset })} />
        ) : (
          <SearchedList
            {...{ noun: 'experiments', by: 'name', q, limit, offset, total, filtered }}
            shown={experiments.length}
            filters={<Filters experiments={experiments} anyDataset={dataset === undefined} />}
          >
            <ExperimentTable experiments={experiments} ofOneDataset={dataset !== undefined} />
          </SearchedList>
        )
      }
    </Answered>
  );
}

interface FiltersProps {
  readonly experiments: readonly Experiment[];
  readonly anyDataset: boolean;
}

function Filters({ experiments, anyDataset }: FiltersProps) {
  const datasets = useDatasets({ limit: DATASETS }).data?.rows ?? [];
  const tags = new Set([BASELINE, ...experiments.flatMap((experiment) => experiment.tags)]);
  const named = (values: Iterable<string>) => [...values].map((value) => [value, value] as const);
  return (
    <>
      {anyDataset && <Choice label="Dataset" name="dataset" options={named(datasets.map(({ name }) => name))} />}
      <Choice label="Status" name="status" options={named(STATUSES)} />
      <Choice label="Tag" name="tag" options={named(tags)} />
    </>
  );
}

/** What an experiment is, and the program that makes one. */
function NoExperiments({ dataset }: { readonly dataset?: string }) {
  const url = `${window.location.origin}${base}${ofProject('/experiments')}`;
  const programs = experimentPrograms({ url, dataset: dataset ?? 'your-dataset' });
  const program = programs.find(({ name }) => name === place.value.query.get('with')) ?? programs[0];
  return (
    <Empty title="No experiments yet">
      <p>
        An experiment runs a version of your prompt or program on the rows of a dataset, and keeps the results with
        their scores, costs and times. Compare two to see whether the newer one is worse.
      </p>
      <RunButton main {...(dataset !== undefined && { dataset })} />
      <p>Or send the results of your own program:</p>
      <Tabs
        label="Ways to make one"
        tabs={programs}
        chosen={program.name}
        onChoose={(name) => setQuery({ with: name }, { replace: true })}
      >
        <Code text={program.code.join('\n')} what="Program" />
      </Tabs>
      <p>
        {dataset === undefined && <a href={hrefOf({ screen: 'datasets' })}>Choose or make a dataset first.</a>}{' '}
        <a href={`${base}/docs/experiments`}>Read about experiments</a>
      </p>
    </Empty>
  );
}
