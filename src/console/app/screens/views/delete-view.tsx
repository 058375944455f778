import type { SavedViewRead } from '../../../../features/saved-views/schema.js';
import { Confirm } from '../../parts/dialog.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { changedAt } from '../../state/query.js';
import { views } from './data.js';

interface DeleteViewProps {
  readonly view: SavedViewRead;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

/** Asks whether a view may go, which everyone in the project has. */
export function DeleteView({ view: { id, name }, onClose, onDeleted }: DeleteViewProps) {
  const { busy, failure, run } = useAction();
  const remove = async () => {
    await call('DELETE /projects/:project_id/saved-views/:view_id', { params: { view_id: id } });
    announce(`View ${name} deleted`);
    onDeleted?.();
    onClose();
    await changedAt(views());
  };
  return (
    <Confirm title="Delete this view?" action="Delete view" busy={busy} onConfirm={() => run(remove)} onClose={onClose}>
      <p>
        <bdi>{name}</bdi> is deleted for everyone in the project. The data that it shows is not affected.
      </p>
      {failure !== null && <Failure error={failure} />}
    </Confirm>
  );
}
