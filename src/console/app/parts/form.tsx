import type { ComponentChildren } from 'preact';
import { useAction } from '../state/action.js';
import { Button } from './button.js';
import type { IconName } from './icon.js';
import { Failure } from './states.js';

interface FormProps {
  /** The verb on the button. */
  readonly action: string;
  readonly icon?: IconName;
  readonly look?: 'main' | 'danger';
  /** Why it cannot be sent now. */
  readonly refused?: string | null;
  readonly onSend: () => Promise<void>;
  readonly onCancel?: () => void;
  readonly children: ComponentChildren;
}

/** Fields that are sent together with Enter or a button; what the server has against them is said below. */
export function Form({ action, icon, look = 'main', refused = null, onSend, onCancel, children }: FormProps) {
  const { busy, failure, run } = useAction();
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (refused === null) run(onSend);
      }}
    >
      {children}
      {failure !== null && <Failure error={failure} />}
      <div class="line">
        <Button type="submit" look={look} changes busy={busy} refused={refused} {...(icon !== undefined && { icon })}>
          {action}
        </Button>
        {onCancel !== undefined && <Button onClick={onCancel}>Cancel</Button>}
      </div>
    </form>
  );
}
