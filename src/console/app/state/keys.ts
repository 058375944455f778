import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { keysOn } from './preferences.js';

export interface KeyBinding {
  /** As `KeyboardEvent.key` says it; `g t` for two in a row; `mod+k` for Ctrl or ⌘ with it. */
  readonly keys: string;
  readonly does: string;
  readonly run: (event: KeyboardEvent) => void;
}

/** What keys do now, the innermost view last; the help lists it. */
export const bindings = signal<readonly (readonly KeyBinding[])[]>([]);

let before = '';

/** While a component is shown, these keys do something. Off in fields and dialogs. */
export function useKeys(list: readonly KeyBinding[], dependencies: readonly unknown[] = []): void {
  // Before anything is painted: the next key may come sooner.
  useLayoutEffect(() => {
    bindings.value = [...bindings.value, list];
    return () => {
      bindings.value = bindings.value.filter((other) => other !== list);
    };
  }, dependencies);
}

export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey) return;
    const modified = event.metaKey || event.ctrlKey;
    const target = event.target as HTMLElement;
    if (!modified && (keysOn.value === 'off' || isField(target) || document.querySelector('dialog[open]') !== null))
      return;
    // It presses what has the focus.
    if (event.key === 'Enter' && target.matches('a, button, summary, [tabindex="0"]')) return;
    const pressed = modified ? `mod+${event.key.toLowerCase()}` : event.key;
    const all = bindings.value.flat();
    const find = (keys: string) => all.findLast((binding) => binding.keys === keys);
    const found = (before === '' ? undefined : find(`${before} ${pressed}`)) ?? find(pressed);
    before = !modified && all.some(({ keys }) => keys.startsWith(`${pressed} `)) ? pressed : '';
    if (found === undefined) return;
    event.preventDefault();
    found.run(event);
  });
}

function isField(element: HTMLElement): boolean {
  return element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);
}
