import { useState } from 'preact/hooks';
import { ROLES } from '../../../../features/datasets/dataset.js';
import { emptyDraft } from '../../../model/dataset-draft.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl, CopyButton } from '../../parts/copy.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { Answered, Empty } from '../../parts/states.js';
import { Tabs } from '../../parts/tabs.js';
import { ApiError } from '../../state/api.js';
import { useKeptDraft } from '../../state/kept-draft.js';
import { hrefOf, navigate, place } from '../../state/location.js';
import { pathOfDataset, useDataset, type Dataset } from './data.js';
import { DeleteDataset } from './delete-dataset.js';
import { ChangesTab } from './changes-tab.js';
import { EditDataset } from './edit-dataset.js';
import { ExperimentsTab } from './experiments-tab.js';
import { RowsTab } from './rows-tab.js';
import { VersionsTab } from './versions-tab.js';

const TABS = [
  { name: 'rows', label: 'Rows', Tab: RowsTab },
  { name: 'versions', label: 'Versions', Tab: VersionsTab },
  { name: 'changes', label: 'Changes', Tab: ChangesTab },
  { name: 'experiments', label: 'Experiments', Tab: ExperimentsTab },
] as const;

/** One dataset: its rows and its versions. */
export function DatasetScreen({ name }: { readonly name: string }) {
  const answer = useDataset(name);
  if (answer.error instanceof ApiError && answer.error.status === 404 && answer.data === undefined)
    return (
      <Empty title="Dataset not found" isPage>
        <p>
          It may have been deleted or renamed. <a href={hrefOf({ screen: 'datasets' })}>Show all datasets</a>
        </p>
      </Empty>
    );
  return (
    <Answered answer={answer} isPage>
      {(dataset) => <Shown key={dataset.id} dataset={dataset} />}
    </Answered>
  );
}

function Shown({ dataset }: { readonly dataset: Dataset }) {
  const { query } = place.value;
  const { name: tab, Tab } = TABS.find(({ name }) => name === query.get('tab')) ?? TABS[0];
  // Here, so that neither another tab nor another page of rows loses a long one.
  const kept = useKeptDraft(`dataset.${dataset.id}`, emptyDraft(dataset.latest_version?.version_number ?? 0));
  const choose = (chosen: string) =>
    navigate(hrefOf({ screen: 'datasets', id: dataset.name, query: chosen === TABS[0].name ? {} : { tab: chosen } }));
  return (
    <div class="stack">
      <Head dataset={dataset} />
      <Tabs label="Dataset sections" tabs={TABS} chosen={tab} onChoose={choose}>
        <Tab dataset={dataset} kept={kept} />
      </Tabs>
    </div>
  );
}

function Head({ dataset }: { readonly dataset: Dataset }) {
  const [opened, setOpened] = useState<'edit' | 'delete' | null>(null);
  const { name, description, roles } = dataset;
  const close = () => setOpened(null);
  return (
    <>
      <header class="screen-head">
        <div class="line">
          <HeadingBelow screen="datasets" label="Datasets" name={name} />
          <CopyButton text={name} what="Name" />
        </div>
        <div class="line">
          <CopyAsCurl path={`${pathOfDataset(name)}/data`} />
          <Button icon="edit" changes onClick={() => setOpened('edit')}>
            Edit
          </Button>
          <Button look="quiet" icon="trash" changes onClick={() => setOpened('delete')}>
            Delete
          </Button>
        </div>
      </header>
      {description !== '' && <p class="soft dataset-about">{description}</p>}
      <Roles of={roles} />
      {opened === 'edit' && <EditDataset dataset={dataset} onClose={close} />}
      {opened === 'delete' && <DeleteDataset dataset={dataset} onClose={close} />}
    </>
  );
}

/** What columns are for, by what they are for. */
function Roles({ of }: { readonly of: Dataset['roles'] }) {
  const columns = Object.entries(of);
  if (columns.length === 0) return null;
  return (
    <ul class="chips" aria-label="Roles of columns">
      {ROLES.flatMap((role) => columns.filter(([, each]) => each === role)).map(([column, role]) => (
        <li key={column} class="badge">
          <span class="soft">{role}:</span> <bdi class="clip">{column}</bdi>
        </li>
      ))}
    </ul>
  );
}
