import { h } from 'preact';
import { SHAPES } from './icon-shapes.js';

export type IconName = keyof typeof SHAPES;

/** An icon beside words that say the same: it is not read out. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {SHAPES[name].map(([element, attributes]) => h(element, attributes))}
    </svg>
  );
}
