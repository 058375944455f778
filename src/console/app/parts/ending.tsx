import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useAction } from '../state/action.js';
import { announce } from '../state/announce.js';
import { request } from '../state/api.js';
import { Confirm } from './dialog.js';
import { Failure } from './states.js';

interface EndingProps {
  readonly title: string;
  /** The verb on the button. */
  readonly action: string;
  /** The call that ends it, by DELETE. */
  readonly path: string;
  /** Said when it has ended. */
  readonly done: string;
  /** When it has ended; awaited, so that what is shown behind is up to date. */
  readonly onDone: () => Promise<void> | void;
  readonly onClose: () => void;
  /** What ends with it. */
  readonly children: ComponentChildren;
}

/** Asks whether something may end, ends it, and says so. */
export function Ending({ title, action, path, done, onDone, onClose, children }: EndingProps) {
  const { busy, failure, run } = useAction();
  const ended = useRef(false);
  // What opened the dialog goes with what has ended, and would take the focus with it.
  useEffect(
    () => () => {
      if (ended.current) document.getElementById('main')?.focus({ preventScroll: true });
    },
    [],
  );
  const end = async () => {
    await request(path, { method: 'DELETE' });
    announce(done);
    ended.current = true;
    await onDone();
    onClose();
  };
  return (
    <Confirm title={title} action={action} busy={busy} onConfirm={() => run(end)} onClose={onClose}>
      {children}
      {failure !== null && <Failure error={failure} />}
    </Confirm>
  );
}
