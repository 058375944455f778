import type { TraceOutline } from './trace-outline.js';
import { at, NO_PARENT, type TraceTree } from './trace-tree.js';

/** By node, what a span and the spans below it come to; NaN: none of them is known. */
export interface TraceSums {
  readonly cost: Float64Array;
  readonly tokens: Float64Array;
}

/**
 * Every figure counts once, where it is stored, as in the sums of the trace: the server keeps no tokens of wrappers, which repeat
 * those of the calls below them, and a cost of one only where its client sent it as its own.
 */
export function sumsOf(tree: TraceTree, { cost, tokens }: Pick<TraceOutline, 'cost' | 'tokens'>): TraceSums {
  return { cost: sumUp(tree, (span) => cost[span] ?? null), tokens: sumUp(tree, tokens) };
}

/** Children come behind their parents: from the end, each subtree is complete when its node is reached. */
function sumUp(tree: TraceTree, figure: (span: number) => number | null): Float64Array {
  const sums = new Float64Array(tree.size).fill(NaN);
  for (let node = tree.size - 1; node >= 0; node -= 1) {
    add(sums, node, figure(at(tree.span, node)) ?? NaN);
    const above = at(tree.parent, node);
    if (above !== NO_PARENT) add(sums, above, at(sums, node));
  }
  return sums;
}

function add(sums: Float64Array, node: number, figure: number): void {
  if (Number.isNaN(figure)) return;
  const before = at(sums, node);
  sums[node] = Number.isNaN(before) ? figure : before + figure;
}

/** What a column says of a span: its own figure, else the sum of those below it. */
export interface ShownFigure {
  /** Null: none is known. */
  readonly value: number | null;
  readonly isSum: boolean;
  /** With those below, where they add to its own; null: they do not. */
  readonly withBelow: number | null;
}

export function shownFigure(own: number | null, sum: number): ShownFigure {
  if (own === null) return { value: Number.isNaN(sum) ? null : sum, isSum: !Number.isNaN(sum), withBelow: null };
  return { value: own, isSum: false, withBelow: sum === own ? null : sum };
}
