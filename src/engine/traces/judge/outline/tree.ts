import type { ShapedSpan } from './shapes.js';
import { counted, kindWords, spanWords } from './words.js';

/** Levels that are indented; deeper spans say their depth instead. */
const MAX_INDENTED = 20;
/** Spans that ended a trace, as many as are kept before others. */
const LAST_KEPT = 3;

/** A span in the order of the tree: below its parent, in the order of start. */
export interface TreeSpan {
  readonly span: ShapedSpan;
  readonly depth: number;
  /** Its place in the order of importance: the first are shown if there is no room for all. */
  rank: number;
}

/** A line of the tree: a span, or how many are left out there. */
export type TreeLine =
  | { readonly text: string; readonly indent: string; readonly shown: TreeSpan }
  | { readonly text: string; readonly indent: string; readonly hidden: readonly TreeSpan[] };

/** A span in a line. */
export type SpanWords = (span: ShapedSpan) => string;

/** The spans of a trace as a tree. @param spans in the order of start; of which one has an id twice, both are in it */
export function treeOf(spans: readonly ShapedSpan[], anchor: string): TreeSpan[] {
  const below = childrenOf(spans);
  const found: Found[] = [];
  const seen = new Set<ShapedSpan>();
  const descend = (roots: readonly ShapedSpan[]) => {
    const waiting = [...childrenAt(roots, 0, null)].reverse();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next.span)) continue;
      seen.add(next.span);
      found.push(next);
      for (const child of childrenAt(below.get(next.span) ?? [], next.depth + 1, next).reverse()) waiting.push(child);
    }
  };
  descend(below.get(null) ?? []);
  // What no root leads to is a cycle of parents, opened at its first span.
  for (const span of spans) if (!seen.has(span)) descend([span]);
  return ranked(found, anchor);
}

/**
 * The lines of a tree in so many characters, a line break after each; of those that have no room, how many there are.
 * @param words what a line says of a span
 */
export function treeLines(tree: readonly TreeSpan[], budget: number, words: SpanWords = spanWords): TreeLine[] {
  let best = linesOf(tree, 0, words);
  let [fits, tooMany] = [0, tree.length + 1];
  const all = linesOf(tree, tree.length, words);
  if (sizeOf(all) <= budget) return all;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    const lines = linesOf(tree, middle, words);
    if (sizeOf(lines) > budget) tooMany = middle;
    else [fits, best] = [middle, lines];
  }
  return best;
}

export function sizeOf(lines: readonly TreeLine[]): number {
  return lines.reduce((total, { text }) => total + text.length + 1, 0);
}

/** How many spans of which kinds are left out in a place. */
export function hiddenWords(count: number, kinds: ReadonlyMap<string, number>): string {
  return `… ${counted(count, 'more span')}${kindWords(kinds)} …`;
}

interface Found {
  readonly span: ShapedSpan;
  readonly depth: number;
  readonly parent: Found | null;
  /** How far in the middle of siblings it is, or something above it. */
  readonly inside: number;
}

/** Children by their parents; those whose parent is not there are below null. */
function childrenOf(spans: readonly ShapedSpan[]): Map<ShapedSpan | null, ShapedSpan[]> {
  const byId = new Map(spans.toReversed().map((span) => [span.id, span]));
  const below = new Map<ShapedSpan | null, ShapedSpan[]>();
  for (const span of spans) {
    const parent = span.parent === null ? null : (byId.get(span.parent) ?? null);
    const siblings = below.get(parent);
    if (siblings === undefined) below.set(parent, [span]);
    else siblings.push(span);
  }
  return below;
}

function childrenAt(children: readonly ShapedSpan[], depth: number, parent: Found | null): Found[] {
  return children.map((span, place) => {
    const fromEdge = Math.min(place, children.length - 1 - place);
    return { span, depth, parent, inside: Math.max(parent?.inside ?? 0, fromEdge) };
  });
}

/**
 * First the span that stands for the trace, then errors, the last spans, and what these are below; then all others: those at
 * the ends of a run of siblings before those in its middle, none before what it is below.
 */
function ranked(found: readonly Found[], anchor: string): TreeSpan[] {
  const errors = byStart(found.filter(({ span }) => span.failed));
  const last = byStart(found).slice(-LAST_KEPT);
  const kept = [...found.filter(({ span }) => span.id === anchor), ...errors, ...last];
  const order = new Set([...kept, ...above(kept)]);
  const others = found.map((each, place) => ({ each, place }));
  others.sort((a, b) => a.each.inside - b.each.inside || a.each.depth - b.each.depth || a.place - b.place);
  for (const { each } of others) order.add(each);
  const ranks = new Map([...order].map((each, rank) => [each, rank]));
  return found.map((each) => ({ span: each.span, depth: each.depth, rank: ranks.get(each) ?? found.length }));
}

function byStart(found: readonly Found[]): Found[] {
  return [...found].sort((a, b) => a.span.started_at - b.span.started_at || (a.span.id < b.span.id ? -1 : 1));
}

function above(found: readonly Found[]): Set<Found> {
  const ancestors = new Set<Found>();
  for (const { parent } of found)
    for (let at = parent; at !== null && !ancestors.has(at); at = at.parent) ancestors.add(at);
  return ancestors;
}

/** Lines with the most important spans, so many of them. */
function linesOf(tree: readonly TreeSpan[], shown: number, words: SpanWords): TreeLine[] {
  const lines: TreeLine[] = [];
  let hidden: TreeSpan[] = [];
  const close = () => {
    const [first] = hidden;
    if (first === undefined) return;
    const kinds = new Map<string, number>();
    for (const { span } of hidden) kinds.set(span.kind, (kinds.get(span.kind) ?? 0) + 1);
    const indent = indentOf(first);
    lines.push({ text: `${indent}${hiddenWords(hidden.length, kinds)}`, indent, hidden });
    hidden = [];
  };
  for (const each of tree) {
    if (each.rank >= shown) hidden.push(each);
    else {
      close();
      const indent = indentOf(each);
      const deep = each.depth > MAX_INDENTED ? `[depth ${each.depth}] ` : '';
      lines.push({ text: `${indent}- ${deep}${words(each.span)}`, indent, shown: each });
    }
  }
  close();
  return lines;
}

function indentOf({ depth }: TreeSpan): string {
  return '  '.repeat(Math.min(depth, MAX_INDENTED));
}
