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
      This was written before and is not saved: this tab has kept it.
      {kept.isOutdated && ' What it is about was changed since; saving replaces that.'}
      <Button
        icon="refresh"
        onClick={() => {
          kept.drop();
          announce('Back to what is saved');
        }}
      >
        Undo my changes
      </Button>
    </p>
  );
}
