import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { wrongFields } from '../../model/wrong-fields.js';
import { useAction } from '../state/action.js';
import { ApiError } from '../state/api.js';
import { Button } from './button.js';
import type { Scope } from '../../../engine/identity/scopes.js';
import type { IconName } from './icon.js';
import { Failure } from './states.js';

interface FormProps {
  /** The verb on the button. */
  readonly action: string;
  readonly icon?: IconName;
  readonly look?: 'main' | 'danger';
  /** The scope that it needs; default: what most changes on the screen do. */
  readonly changes?: Scope;
  /** Why it cannot be sent now. */
  readonly refused?: string | null;
  readonly onSend: () => Promise<void>;
  readonly onCancel?: () => void;
  /** The fields; given what the server has against single ones, by name. */
  readonly children: ComponentChildren | ((wrong: Wrong) => ComponentChildren);
}

type Wrong = ReturnType<typeof wrongFields>;

/**
 * Fields that are sent together with Enter or a button; what the server has against them is said below, and the first field that
 * it names has the focus.
 */
export function Form({ action, icon, look = 'main', changes, refused = null, onSend, onCancel, children }: FormProps) {
  const { busy, failure, run } = useAction();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [failure]);
  const wrong = failure instanceof ApiError ? wrongFields(failure.problem.errors) : {};
  return (
    <form
      ref={form}
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (refused === null) run(onSend);
      }}
    >
      {typeof children === 'function' ? children(wrong) : children}
      {failure !== null && <Failure error={failure} />}
      <div class="line">
        <Button
          type="submit"
          look={look}
          changes={changes ?? true}
          busy={busy}
          refused={refused}
          {...(icon !== undefined && { icon })}
        >
          {action}
        </Button>
        {onCancel !== undefined && <Button onClick={onCancel}>Cancel</Button>}
      </div>
    </form>
  );
}
