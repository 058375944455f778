import { useState } from 'preact/hooks';
import { count, NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { SearchedList } from '../../parts/searched-list.js';
import { Answered, Empty } from '../../parts/states.js';
import { hrefOf, navigate, place } from '../../state/location.js';
import { offsetAsked } from '../prompts/asked.js';
import { useDatasets, type Dataset } from './data.js';
import { CreateDataset } from './create-dataset.js';
import { DeleteDataset } from './delete-dataset.js';

const PAGE = 50;

/** Every dataset of the project. */
export function DatasetList() {
  const [creating, setCreating] = useState(false);
  const q = place.value.query.get('q') ?? '';
  const query = { ...(q !== '' && { q }), limit: PAGE, offset: offsetAsked() };
  const answer = useDatasets(query);
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>Datasets</h1>
        <div class="line">
          <CopyAsCurl path="/v1/datasets" query={query} />
          <Button look="main" icon="plus" changes onClick={() => setCreating(true)}>
            New dataset
          </Button>
        </div>
      </header>
      <Answered answer={answer}>
        {(page) =>
          page.total === 0 && q === '' ? (
            <NoDatasets onCreate={() => setCreating(true)} />
          ) : (
            <SearchedList noun="datasets" by="name" q={q} {...query} shown={page.rows.length} total={page.total}>
              <DatasetTable datasets={page.rows} />
            </SearchedList>
          )
        }
      </Answered>
      {creating && (
        <CreateDataset
          onClose={() => setCreating(false)}
          onCreated={({ name }) => navigate(hrefOf({ screen: 'datasets', id: name }))}
        />
      )}
    </div>
  );
}

function NoDatasets({ onCreate }: { readonly onCreate: () => void }) {
  return (
    <Empty title="No datasets yet">
      <p>
        A dataset is a table of test cases: what goes into your prompt or program, and what should come out. Every
        change makes a version, so you can repeat a test on the same rows.
      </p>
      <div class="line">
        <Button look="main" icon="plus" changes onClick={onCreate}>
          New dataset
        </Button>
        <a class="button" href={hrefOf({ screen: 'spans', query: { span_kind: 'llm', range: '7d' } })}>
          Make one of production spans
        </a>
      </div>
      <p class="soft">In the list of spans, filter what you want to test with, and choose “Add to dataset”.</p>
    </Empty>
  );
}

function DatasetTable({ datasets }: { readonly datasets: readonly Dataset[] }) {
  const [deleting, setDeleting] = useState<Dataset | null>(null);
  const columns: Column<Dataset>[] = [
    { name: 'name', label: 'Dataset', cell: ({ name }) => <bdi>{name}</bdi>, full: ({ name }) => name },
    {
      name: 'description',
      label: 'Description',
      cell: ({ description }) => <bdi class="soft">{description.slice(0, 200) || NOTHING}</bdi>,
      full: ({ description }) => description,
    },
    {
      name: 'version',
      label: 'Newest version',
      named: true,
      figure: true,
      cell: ({ latest_version: newest }) => (newest === null ? NOTHING : `v${newest.version_number}`),
    },
    {
      name: 'rows',
      label: 'Rows',
      named: true,
      figure: true,
      cell: ({ latest_version: newest }) => count(newest?.row_count ?? 0),
    },
    { name: 'updated', label: 'Updated', cell: ({ updated_at }) => <When at={updated_at} relative /> },
    {
      name: 'actions',
      label: 'Actions',
      cell: (dataset) => (
        <Button
          look="quiet"
          icon="trash"
          changes
          label={`Delete dataset ${dataset.name}`}
          onClick={() => setDeleting(dataset)}
        />
      ),
    },
  ];
  return (
    <>
      <DataTable
        caption="Datasets"
        columns={columns}
        rows={datasets}
        idOf={({ id }) => id}
        hrefOf={({ name }) => hrefOf({ screen: 'datasets', id: name })}
      />
      {deleting !== null && <DeleteDataset dataset={deleting} onClose={() => setDeleting(null)} />}
    </>
  );
}
