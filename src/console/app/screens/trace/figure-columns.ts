import { compact, count, duration, money, moneyInFull } from '../../../model/format.js';
import type { TraceOutline } from '../../../model/trace-outline.js';

/** A column of figures beside the bars. */
export interface FigureColumn {
  readonly title: string;
  readonly short: (outline: TraceOutline, span: number) => string;
  /** What the tooltip says. */
  readonly full: (outline: TraceOutline, span: number) => string;
}

export const FIGURES: readonly FigureColumn[] = [
  {
    title: 'Duration',
    short: (outline, span) => duration(outline.duration[span]),
    full: (outline, span) => `${outline.duration[span] ?? 'unknown'} ms`,
  },
  {
    title: 'Cost',
    short: (outline, span) => money(outline.cost[span]),
    full: (outline, span) => moneyInFull(outline.cost[span]),
  },
  {
    title: 'Tokens',
    short: (outline, span) => compact(outline.tokens(span)),
    full: (outline, span) => count(outline.tokens(span)),
  },
];
