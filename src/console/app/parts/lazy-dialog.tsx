import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import type { Scope } from '../../../engine/identity/scopes.js';
import { announce } from '../state/announce.js';
import { Button } from './button.js';
import type { IconName } from './icon.js';

interface LazyDialogProps<P extends object> {
  readonly icon: IconName;
  /** What the button says; shown beside the icon unless there is no room. */
  readonly label: string;
  readonly isSmall?: boolean;
  readonly changes?: Scope;
  readonly load: () => Promise<ComponentType<P & { readonly onClose: () => void }>>;
  readonly given: P;
}

/** A button that opens a dialog, whose chunk comes when it is asked for. */
export function LazyDialog<P extends object>(props: LazyDialogProps<P>) {
  const { icon, label, isSmall = false, changes = false, load, given } = props;
  const [Dialog, setDialog] = useState<Awaited<ReturnType<typeof load>> | null>(null);
  const open = () => {
    load().then(
      (loaded) => setDialog(() => loaded),
      () => announce('Cannot load the form. Reload the page.', { bad: true }),
    );
  };
  return (
    <>
      <Button
        icon={icon}
        changes={changes}
        {...(isSmall ? { label } : { children: <span class="clip">{label}</span> })}
        onClick={open}
      />
      {Dialog !== null && <Dialog {...given} onClose={() => setDialog(null)} />}
    </>
  );
}
