import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { hrefOf } from '../state/location.js';

interface HeadingBelowProps {
  /** The screen that lists it. */
  readonly screen: string;
  readonly label: string;
  /** What the page shows, as its title says it; empty: not known yet. */
  readonly name: string;
  /** The heading, where it is not the name alone. */
  readonly children?: ComponentChildren;
}

/** The heading of one object, behind a link to the screen that lists it; the title of the page names both. */
export function HeadingBelow({ screen, label, name, children }: HeadingBelowProps) {
  useEffect(() => {
    document.title = `${name} · ${label} · Spanhouse`;
  }, [name]);
  return (
    <>
      <a href={hrefOf({ screen })}>{label}</a>
      <span class="soft" aria-hidden="true">
        /
      </span>
      <h1>{children ?? <bdi>{name}</bdi>}</h1>
    </>
  );
}
