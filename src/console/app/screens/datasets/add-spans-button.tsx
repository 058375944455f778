import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.js';
import { announce } from '../../state/announce.js';
import type { AddSpansDialog, ChosenSpans } from './add-spans-dialog.js';

interface AddSpansButtonProps {
  readonly spans: ChosenSpans;
  /** Whether there is no room for words. */
  readonly isSmall?: boolean;
}

/** Opens the dialog that makes rows of spans. Its chunk comes when it is asked for. */
export function AddSpansButton({ spans, isSmall = false }: AddSpansButtonProps) {
  const [Dialog, setDialog] = useState<typeof AddSpansDialog | null>(null);
  const open = () => {
    import('./add-spans-dialog.js').then(
      (loaded) => setDialog(() => loaded.AddSpansDialog),
      () => announce('Cannot load the form. Reload the page.', { bad: true }),
    );
  };
  return (
    <>
      <Button
        icon="database"
        look={isSmall ? 'quiet' : ''}
        changes="datasets:write"
        {...(isSmall ? { label: 'Add to dataset' } : { children: 'Add to dataset' })}
        onClick={open}
      />
      {Dialog !== null && <Dialog spans={spans} onClose={() => setDialog(null)} />}
    </>
  );
}
