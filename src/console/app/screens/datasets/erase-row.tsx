import { Ending } from '../../parts/ending.js';
import { pathOf } from '../../state/api.js';
import { datasetsChanged } from './data.js';

interface EraseRowProps {
  /** Of the dataset. */
  readonly name: string;
  readonly rowId: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Erases a row from every version, naming what goes with it. */
export function EraseRow({ name, rowId, onDone, onClose }: EraseRowProps) {
  return (
    <Ending
      title="Erase this row?"
      action="Erase row"
      path={pathOf('DELETE /v1/datasets/:name+/rows/:row_id', { params: { name, row_id: rowId } })}
      done="Row erased"
      onDone={() => {
        onDone();
        return datasetsChanged();
      }}
      onClose={onClose}
    >
      <p>
        The content of <bdi>{rowId}</bdi> is erased from every version, with its results in experiments and the
        comparisons of the dataset. Counts of versions stay. This cannot be undone. To leave the row out of the next
        version alone, remove it there.
      </p>
    </Ending>
  );
}
