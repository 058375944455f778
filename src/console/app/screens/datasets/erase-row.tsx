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
        This erases the content of <bdi>{rowId}</bdi> from every version, its results in experiments with their
        evaluations, feedback and scores, and all comparisons of the dataset. Row counts of versions stay the same. This
        cannot be undone. To leave the row out of future versions only, remove it in a new version.
      </p>
    </Ending>
  );
}
