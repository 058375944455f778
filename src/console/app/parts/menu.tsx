import type { ComponentChildren, TargetedToggleEvent } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon, type IconName } from './icon.js';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  /** For one of several choices: whether it is chosen. */
  readonly checked?: boolean;
  readonly href?: string;
  readonly run?: () => void;
}

interface MenuProps {
  readonly items: readonly MenuItem[];
  readonly icon?: IconName;
  /** What the button is for, where it shows an icon alone. */
  readonly label?: string;
  readonly look?: string;
  readonly children?: ComponentChildren;
}

/** A button with a menu (APG): the browser's popover shows it above everything and closes it with Escape. */
export function Menu({ items, icon, label, look = '', children }: MenuProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const itemsShown = () => [...(list.current?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
  const close = () => {
    list.current?.hidePopover();
    button.current?.focus();
  };
  const onToggle = (event: TargetedToggleEvent<HTMLDivElement>) => {
    button.current?.setAttribute('aria-expanded', String(event.newState === 'open'));
    if (event.newState !== 'open' || list.current === null || button.current === null) return;
    placeBeside(list.current, button.current);
    itemsShown()[0]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const shown = itemsShown();
    const at = shown.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (next !== undefined) shown.at(next % shown.length)?.focus();
    else if (event.key === 'Tab') close();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`button ${look}${children === undefined ? ' only-icon' : ''}`}
        popovertarget={id}
        aria-haspopup="menu"
        aria-expanded="false"
        {...(label !== undefined && { 'aria-label': label, title: label })}
      >
        {icon !== undefined && <Icon name={icon} />}
        {children}
      </button>
      <div ref={list} id={id} class="menu" role="menu" popover="auto" onToggle={onToggle} onKeyDown={onKeyDown}>
        {items.map((item) => (
          <Item key={item.label} item={item} close={close} />
        ))}
      </div>
    </>
  );
}

function Item({
  item: { label, icon, checked, href, run },
  close,
}: {
  readonly item: MenuItem;
  readonly close: () => void;
}) {
  const shared = {
    role: checked === undefined ? ('menuitem' as const) : ('menuitemradio' as const),
    tabIndex: -1,
    ...(checked !== undefined && { 'aria-checked': checked }),
  };
  const content = (
    <>
      {checked !== undefined ? (
        checked ? (
          <Icon name="check" />
        ) : (
          <span class="icon" />
        )
      ) : (
        icon !== undefined && <Icon name={icon} />
      )}
      {label}
    </>
  );
  const chosen = () => {
    close();
    run?.();
  };
  if (href !== undefined)
    return (
      <a {...shared} href={href} onClick={close}>
        {content}
      </a>
    );
  return (
    <button {...shared} type="button" onClick={chosen}>
      {content}
    </button>
  );
}

/** Below what it belongs to, or above where there is more room. */
export function placeBeside(floating: HTMLElement, anchor: HTMLElement): void {
  const to = anchor.getBoundingClientRect();
  const { width, height } = floating.getBoundingClientRect();
  const below = innerHeight - to.bottom;
  const top = below >= height + 8 || below >= to.top ? to.bottom + 4 : Math.max(8, to.top - height - 4);
  floating.style.top = `${top}px`;
  floating.style.left = `${Math.max(8, Math.min(to.left, innerWidth - width - 8))}px`;
}
