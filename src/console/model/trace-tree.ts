/** What the tree needs of a trace's outline, one entry per span. */
export interface TraceColumns {
  readonly id: readonly string[];
  /** Index of the parent; `NO_PARENT` for a root, any other index without a span for a parent that is not stored. */
  readonly parent: ArrayLike<number>;
  /** Milliseconds, from any one zero. */
  readonly start: ArrayLike<number>;
  /** Milliseconds; null while the span runs. */
  readonly duration: ArrayLike<number | null>;
}

export const NO_PARENT = -1;

/** Why a span stands at the top. */
export const ROOT = { child: 0, root: 1, missingParent: 2, cycle: 3 } as const;
export type RootReason = (typeof ROOT)[keyof typeof ROOT];

/**
 * The spans of a trace as a tree. A node is a span's place in the order shown (parents before children, siblings by
 * start), so the nodes of a subtree are `node … end[node] - 1` and every walk is a loop over integers.
 */
export interface TraceTree {
  readonly size: number;
  /** Node → index in the outline, and back. */
  readonly span: Int32Array;
  readonly nodeOf: Int32Array;
  readonly parent: Int32Array;
  /** The node after the subtree. */
  readonly end: Int32Array;
  /** 0 at the top. */
  readonly depth: Int32Array;
  /** From 1, among its siblings. */
  readonly position: Int32Array;
  readonly siblings: Int32Array;
  readonly root: Uint8Array;
}

/** An entry that is known to exist. */
export const at = (column: ArrayLike<number>, index: number): number => column[index] as number;

export function buildTraceTree({ parent: sent, start }: Pick<TraceColumns, 'parent' | 'start'>): TraceTree {
  const size = sent.length;
  const { parent, root } = withoutCycles(sent, start);
  const byParent = groupByParent(parent, spansByStart(start, size));
  const tree = {
    size,
    span: new Int32Array(size),
    nodeOf: new Int32Array(size),
    parent: new Int32Array(size).fill(NO_PARENT),
    end: new Int32Array(size),
    depth: new Int32Array(size),
    position: new Int32Array(size),
    siblings: new Int32Array(size),
    root: new Uint8Array(size),
  };
  placeNodes(tree, byParent, root);
  return tree;
}

interface Families {
  /** Spans, those of one parent together; the roots come first. */
  readonly spans: Int32Array;
  /** Where the children of span `i` begin: `first[i + 1]`, to `first[i + 2]`. The roots are the children of -1. */
  readonly first: Int32Array;
}

function groupByParent(parent: Int32Array, order: Int32Array): Families {
  const size = parent.length;
  const first = new Int32Array(size + 2);
  for (let span = 0; span < size; span++) {
    const slot = at(parent, span) + 2;
    first[slot] = at(first, slot) + 1;
  }
  for (let slot = 1; slot < first.length; slot++) first[slot] = at(first, slot) + at(first, slot - 1);
  const next = first.slice();
  const spans = new Int32Array(size);
  for (const span of order) {
    const slot = at(parent, span) + 1;
    const place = at(next, slot);
    spans[place] = span;
    next[slot] = place + 1;
  }
  return { spans, first };
}

/** Walks with a stack of its own: a chain of 50,000 spans is deeper than the engine's. */
function placeNodes(tree: TraceTree, { spans, first }: Families, root: Uint8Array): void {
  const next = first.slice();
  let node = 0;
  let open = NO_PARENT;
  for (;;) {
    const family = open === NO_PARENT ? NO_PARENT : at(tree.span, open);
    const place = at(next, family + 1);
    if (place < at(first, family + 2)) {
      next[family + 1] = place + 1;
      const span = at(spans, place);
      tree.span[node] = span;
      tree.nodeOf[span] = node;
      tree.parent[node] = open;
      tree.depth[node] = open === NO_PARENT ? 0 : at(tree.depth, open) + 1;
      tree.position[node] = place - at(first, family + 1) + 1;
      tree.siblings[node] = at(first, family + 2) - at(first, family + 1);
      tree.root[node] = at(root, span);
      open = node++;
    } else if (open === NO_PARENT) {
      return;
    } else {
      tree.end[open] = node;
      open = at(tree.parent, open);
    }
  }
}

function spansByStart(start: ArrayLike<number>, size: number): Int32Array {
  const order = Int32Array.from({ length: size }, (_, span) => span);
  for (let span = 1; span < size; span++) {
    // Outlines mostly come sorted; only others pay for the sort.
    if (at(start, span) < at(start, span - 1)) return order.sort((a, b) => at(start, a) - at(start, b) || a - b);
  }
  return order;
}

/** Parents that exist and lead to a root. Of the spans in a circle, the one that started first becomes a root. */
function withoutCycles(sent: ArrayLike<number>, start: ArrayLike<number>): { parent: Int32Array; root: Uint8Array } {
  const size = sent.length;
  const root = new Uint8Array(size);
  const parent = Int32Array.from(sent, (candidate, span) => {
    if (candidate >= 0 && candidate < size) return candidate;
    root[span] = candidate === NO_PARENT ? ROOT.root : ROOT.missingParent;
    return NO_PARENT;
  });
  // The walk that came by first, 0 for none: meeting one's own walk again is a circle.
  const walk = new Int32Array(size);
  for (let from = 0; from < size; from++) {
    let span = from;
    while (span !== NO_PARENT && walk[span] === 0) {
      walk[span] = from + 1;
      span = at(parent, span);
    }
    if (span === NO_PARENT || walk[span] !== from + 1) continue;
    const earliest = earliestOfCircle(span, parent, start);
    parent[earliest] = NO_PARENT;
    root[earliest] = ROOT.cycle;
  }
  return { parent, root };
}

function earliestOfCircle(member: number, parent: Int32Array, start: ArrayLike<number>): number {
  let earliest = member;
  for (let span = at(parent, member); span !== member; span = at(parent, span)) {
    if (at(start, span) < at(start, earliest)) earliest = span;
  }
  return earliest;
}
