import { useState } from 'preact/hooks';
import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { Button } from '../../parts/button.js';
import { announce } from '../../state/announce.js';
import type { DeleteFoundDialog } from './delete-found-dialog.js';

interface DeleteFoundButtonProps {
  readonly list: ListDefinition;
  /** The filters of the list. */
  readonly query: URLSearchParams;
  /** When some are gone. */
  readonly onDeleted: () => void;
}

/** Opens the dialog that deletes all that the filters find. Its chunk comes when it is asked for. */
export function DeleteFoundButton(props: DeleteFoundButtonProps) {
  const [Dialog, setDialog] = useState<typeof DeleteFoundDialog | null>(null);
  const open = () => {
    import('./delete-found-dialog.js').then(
      (loaded) => setDialog(() => loaded.DeleteFoundDialog),
      () => announce('Cannot load the form. Reload the page.', { bad: true }),
    );
  };
  return (
    <>
      <Button icon="trash" label="Delete these…" changes onClick={open} />
      {Dialog !== null && <Dialog {...props} onClose={() => setDialog(null)} />}
    </>
  );
}
