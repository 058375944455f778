import { announce } from '../state/announce.js';
import { Button } from './button.js';

interface KeptNoteProps {
  readonly kept: { readonly isFromBefore: boolean; readonly isOutdated: boolean; readonly drop: () => void };
}

/** Says of what was written before that it is not saved, and drops it. */
export function KeptNote({ kept }: KeptNoteProps) {
  if (!kept.isFromBefore) return null;
  return (
    <p class="hint line">
      Unsaved changes were restored from this tab.
      {kept.isOutdated && ' The saved version has changed since; saving overwrites it.'}
      <Button
        icon="refresh"
        onClick={() => {
          kept.drop();
          announce('Changes discarded');
        }}
      >
        Discard changes
      </Button>
    </p>
  );
}
