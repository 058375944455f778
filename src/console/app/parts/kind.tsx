import type { ComponentChildren } from 'preact';
import { lookOf } from '../../model/kind.js';
import { Icon } from './icon.js';

/** The kind of a span: icon and color, and its name in the tooltip. */
export function Kind({ of, named = false }: { readonly of: string; readonly named?: boolean }) {
  const look = lookOf(of);
  return (
    <span class={`line kind-${look}`} style="gap:4px;display:inline-flex" title={of}>
      <Icon name={look} />
      {named ? <span>{of}</span> : <span class="unseen">{of}</span>}
    </span>
  );
}

interface StatusProps {
  readonly error: boolean;
  readonly running?: boolean;
  /** What is shown of an error; default: that it is one. */
  readonly children?: ComponentChildren;
}

/** The outcome of a span, trace or session: ok is unmarked. */
export function Status({ error, running = false, children = 'error' }: StatusProps) {
  if (error)
    return (
      <span class="badge bad">
        <Icon name="error" /> {children}
      </span>
    );
  if (!running) return null;
  return (
    <span class="badge">
      <Icon name="running" /> running
    </span>
  );
}
