import { counted } from '../../../model/format.js';
import { Ending } from '../../parts/ending.js';
import { leaveDeleted } from '../../state/deleted.js';
import { DATASETS, pathOfDataset, type Dataset } from './data.js';

interface DeleteDatasetProps {
  readonly dataset: Dataset;
  readonly onClose: () => void;
}

/** Deletes a dataset, naming what goes with it, and leads to the list. */
export function DeleteDataset({ dataset: { name, latest_version: newest }, onClose }: DeleteDatasetProps) {
  const gone = () => leaveDeleted({ id: name, to: { screen: 'datasets' }, changed: [DATASETS] });
  return (
    <Ending
      title="Delete this dataset?"
      action="Delete dataset"
      path={pathOfDataset(name)}
      done={`Dataset ${name} deleted`}
      onDone={gone}
      onClose={onClose}
    >
      <p>
        <bdi>{name}</bdi> is deleted with{' '}
        {newest === null
          ? 'its description'
          : `${counted(newest.version_number, 'version')} and ${counted(newest.row_count, 'row')} in the newest one`}
        . Programs that read it get 404. This cannot be undone.
      </p>
    </Ending>
  );
}
