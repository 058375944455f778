import type { ButtonHTMLAttributes, ComponentChildren, TargetedMouseEvent } from 'preact';
import type { Scope } from '../../../engine/identity/scopes.js';
import { refusalOf } from '../state/session.js';
import { Icon, type IconName } from './icon.js';

type Look = 'main' | 'main pill' | 'danger' | 'quiet' | '';

interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  /** What it does; needed where there is an icon alone. */
  readonly label?: string;
  readonly look?: Look;
  readonly type?: 'button' | 'submit';
  /** Why it does nothing now; shown as a tooltip and read out. */
  readonly refused?: string | null;
  /** Whether it changes something, which not everyone may: what it needs, or true for what most changes on the screen do. */
  readonly changes?: boolean | Scope;
  readonly pressed?: boolean;
  readonly busy?: boolean;
  readonly onClick?: (event: TargetedMouseEvent<HTMLButtonElement>) => void;
  readonly more?: ButtonHTMLAttributes;
}

export function Button(props: ButtonProps) {
  const {
    children,
    icon,
    label,
    look = '',
    type = 'button',
    changes = false,
    pressed,
    busy = false,
    onClick,
    more,
  } = props;
  const unallowed = changes === false ? null : refusalOf(changes === true ? undefined : changes);
  const refused = unallowed ?? props.refused ?? null;
  const off = refused !== null || busy;
  return (
    <button
      {...more}
      type={type}
      class={`button ${look}${children === undefined ? ' only-icon' : ''}`}
      aria-disabled={off}
      aria-busy={busy}
      {...(pressed !== undefined && { 'aria-pressed': pressed })}
      {...(label !== undefined && { 'aria-label': refused === null ? label : `${label} (${refused})` })}
      {...((refused ?? label) !== undefined && { title: refused ?? label })}
      onClick={(event) => {
        if (off) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}
