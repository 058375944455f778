import { compact, count, duration, money, moneyInFull } from '../../../model/format.js';
import { shownFigure } from '../../../model/trace-sums.js';
import { at } from '../../../model/trace-tree.js';
import type { TraceView } from './trace-view.js';

/** A figure as a column shows it. */
interface Written {
  readonly text: string;
  /** What the tooltip says. */
  readonly full: string;
  /** Whether it is of the spans below, and none of the span's own. */
  readonly isSum: boolean;
}

/** A column of figures beside the bars. */
export interface FigureColumn {
  readonly title: string;
  readonly of: (view: TraceView, node: number) => Written;
}

type Write = (value: number | null) => string;

export const FIGURES: readonly FigureColumn[] = [
  {
    title: 'Duration',
    of(view, node) {
      const ms = view.outline.value.duration[view.spanOf(node)];
      return { text: duration(ms), full: `${ms ?? 'unknown'} ms`, isSum: false };
    },
  },
  {
    title: 'Cost',
    of: (view, node) =>
      summed(
        view,
        view.outline.value.cost[view.spanOf(node)] ?? null,
        at(view.sums.value.cost, node),
        money,
        moneyInFull,
      ),
  },
  {
    title: 'Tokens',
    of: (view, node) =>
      summed(view, view.outline.value.tokens(view.spanOf(node)), at(view.sums.value.tokens, node), compact, count),
  },
];

function summed(view: TraceView, own: number | null, sum: number, short: Write, inFull: Write): Written {
  const { id, total } = view.outline.value;
  // Of a very large trace, not all spans are here.
  const below = `the ${total > id.length ? 'visible ' : ''}spans below`;
  const { value, isSum, withBelow } = shownFigure(own, sum);
  // The sign says it to those who do not see that it is softer.
  if (isSum) return { text: `Σ ${short(value)}`, full: `Sum of ${below}: ${inFull(value)}`, isSum };
  const full = withBelow === null ? inFull(value) : `${inFull(value)}; with ${below}: ${inFull(withBelow)}`;
  return { text: short(value), full, isSum };
}
