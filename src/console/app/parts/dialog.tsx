import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './button.js';
import { Notices } from './notices.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}

/** A native modal dialog: the browser keeps the focus inside, closes it with Escape and gives the focus back. */
export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Closed before it goes: from an element that is gone, the browser does not give the focus back.
  useLayoutEffect(() => {
    const dialog = element.current;
    const opener = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      // The dialog takes the focus with it, and what was done here may have taken what opened it.
      if (document.activeElement !== document.body) return;
      const next = opener?.isConnected === true && opener !== document.body ? opener : document.getElementById('main');
      (next as HTMLElement | null)?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? 'wide' : ''}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={heading}>{title}</h2>
          <Button look="quiet" icon="close" label="Close" onClick={onClose} />
        </div>
        {children}
      </div>
      <Notices />
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** The verb on the button, such as `Delete 3 traces`. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly busy?: boolean;
  readonly children: ComponentChildren;
}

/** Asks before something that cannot be undone, naming what goes. */
export function Confirm({ title, action, onConfirm, onClose, busy = false, children }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="line">
        <Button look="danger" busy={busy} onClick={onConfirm}>
          {action}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
