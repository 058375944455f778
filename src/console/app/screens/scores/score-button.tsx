import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../parts/button.js';
import { announce } from '../../state/announce.js';
import { useKeys } from '../../state/keys.js';
import { refusalOf } from '../../state/session.js';
import type { Target } from './data.js';
import type { ScoreDialog } from './score-dialog.js';

interface ScoreButtonProps {
  readonly target: Target;
  /** What it is called. */
  readonly name: string;
  /** The key that does the same. */
  readonly keys: string;
  /** Whether there is no room for words. */
  readonly isSmall?: boolean;
}

/** Opens the dialog that scores something. Its chunk comes after the page, and before what is typed could be taken for keys of the page. */
export function ScoreButton({ target, name, keys, isSmall = false }: ScoreButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const [Dialog, setDialog] = useState<typeof ScoreDialog | null>(null);
  const load = () => import('./score-dialog.js').then((loaded) => setDialog(() => loaded.ScoreDialog));
  useEffect(() => void load().catch(() => undefined), []);
  const open = () => {
    const refused = refusalOf('scores:write');
    if (refused !== null) {
      announce(refused, { bad: true });
      return;
    }
    setOpen(true);
    load().catch(() => {
      setOpen(false);
      announce('Cannot load the form. Reload the page.', { bad: true });
    });
  };
  const does = `Score this ${target.type}`;
  useKeys([{ keys, does, run: open }], [target.id]);
  return (
    <>
      <Button
        icon="score"
        look="quiet"
        changes="scores:write"
        {...(isSmall
          ? { label: `${does} (${keys})` }
          : { children: `Score ${target.type}`, more: { title: `${does} (${keys})` } })}
        onClick={open}
      />
      {isOpen && Dialog !== null && <Dialog target={target} name={name} onClose={() => setOpen(false)} />}
    </>
  );
}
