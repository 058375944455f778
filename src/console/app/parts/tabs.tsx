import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly { readonly name: string; readonly label: string }[];
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
  readonly children: ComponentChildren;
}

/** Tabs (APG) with the panel of the chosen one. */
export function Tabs({ label, tabs, chosen, onChoose, children }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  // Of many tabs, a narrow screen shows some.
  useLayoutEffect(() => {
    const all = list.current?.getBoundingClientRect();
    const tab = list.current?.querySelector('[aria-selected=true]')?.getBoundingClientRect();
    if (all === undefined || tab === undefined) return;
    list.current?.scrollBy(Math.max(0, tab.right - all.right) + Math.min(0, tab.left - all.left), 0);
  }, [chosen]);
  const step = (event: KeyboardEvent) => {
    const at = tabs.findIndex(({ name }) => name === chosen);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    const tab = next === undefined ? undefined : tabs.at(next % tabs.length);
    if (tab === undefined) return;
    event.preventDefault();
    onChoose(tab.name);
    list.current?.querySelector<HTMLElement>(`[data-name="${tab.name}"]`)?.focus();
  };
  return (
    <div class="stack">
      <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={step}>
        {tabs.map((tab) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            id={`${id}-${tab.name}`}
            data-name={tab.name}
            aria-controls={`${id}-panel`}
            aria-selected={tab.name === chosen}
            tabIndex={tab.name === chosen ? 0 : -1}
            onClick={() => onChoose(tab.name)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`} tabIndex={0}>
        {children}
      </div>
    </div>
  );
}
