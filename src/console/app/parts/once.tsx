import type { ComponentChildren } from 'preact';
import { copy } from '../state/announce.js';
import { Button } from './button.js';

interface OnceProps {
  /** What it is: `Key`. */
  readonly what: string;
  readonly text: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

/** A secret that the server shows once, to be copied now. */
export function Once({ what, text, onClose, children }: OnceProps) {
  return (
    <>
      <p>
        <code class="secret">{text}</code>
      </p>
      <p class="soft">Copy it now; it won’t be shown again.</p>
      {children}
      <div class="line">
        <Button look="main" icon="copy" more={{ autofocus: true }} onClick={() => void copy(text, what)}>
          Copy
        </Button>
        <Button onClick={onClose}>Done</Button>
      </div>
    </>
  );
}
