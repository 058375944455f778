import { Dialog } from '../parts/dialog.js';
import { bindings } from '../state/keys.js';
import { keysOn } from '../state/preferences.js';

/** What keys do in this view. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const known = new Map(bindings.value.flat().map(({ keys, does }) => [keys, does]));
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {keysOn.value === 'off' && <p>Single-key shortcuts are disabled. Enable them in the user menu.</p>}
      <dl class="pairs">
        {[...known].map(([keys, does]) => (
          <>
            <dt>
              <kbd>{keys.replace('mod+', 'Ctrl or ⌘ ')}</kbd>
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  );
}
