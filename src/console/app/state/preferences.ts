import { effect, signal, type Signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
export type Density = 'normal' | 'compact';

/** What a person has chosen for this browser. */
export const theme = remembered<Theme>('theme', 'system', ['system', 'light', 'dark']);
export const density = remembered<Density>('density', 'normal', ['normal', 'compact']);
/** Times are written in this zone. */
export const zone = remembered<string>('zone', Intl.DateTimeFormat().resolvedOptions().timeZone);
/** How texts of messages are shown. */
export const textForm = remembered<'markdown' | 'plain'>('texts', 'markdown', ['markdown', 'plain']);
/** Single keys do something only where this is on (WCAG 2.1.4). */
export const keysOn = remembered<'on' | 'off'>('keys', 'on', ['on', 'off']);
/** Whether the tour for newcomers is shown while something of it is left to do. */
export const tour = remembered<'shown' | 'away'>('tour', 'shown', ['shown', 'away']);
/** Whether someone asked for it, just now or before, so that it is shown with all of it done, too. */
export const tourAsked = signal<'now' | 'before' | null>(null);

/** Height of a row in pixels, as the styles say it for this density and pointer. */
export const rowHeight = signal(28);

effect(() => {
  const root = document.documentElement;
  if (theme.value === 'system') delete root.dataset['theme'];
  else root.dataset['theme'] = theme.value;
  root.dataset['density'] = density.value;
  rowHeight.value = Number.parseFloat(getComputedStyle(root).getPropertyValue('--row')) || 28;
});

/** A choice kept in this browser. @param known the values that count; undefined: any */
export function remembered<T extends string>(name: string, otherwise: T, known?: readonly T[]): Signal<T> {
  const key = `spanhouse.${name}`;
  const kept = localStorage.getItem(key) as T | null;
  const value = signal(kept !== null && (known?.includes(kept) ?? true) ? kept : otherwise);
  let first = true;
  effect(() => {
    const current = value.value;
    if (!first) localStorage.setItem(key, current);
    first = false;
  });
  return value;
}
