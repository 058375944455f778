import { at, type TraceColumns, type TraceTree } from './trace-tree.js';

/** A stretch of time in which the whole trace waited for one node and none of its children. */
export interface CriticalSegment {
  readonly node: number;
  readonly from: number;
  readonly to: number;
}

interface OpenNode {
  readonly node: number;
  readonly start: number;
  /** Children by their end within this node, the last first. */
  readonly children: readonly (readonly [child: number, end: number])[];
  next: number;
}

/**
 * What a root's duration is made of, from its end back to its start: at each moment the child that finished last, else the
 * node itself. Children are cut to their parent's time; those wholly outside it (skewed clocks) and those that ran beside
 * a later one take no part. `now` ends running spans. Latest first.
 */
export function criticalPath(tree: TraceTree, columns: TraceColumns, root: number, now: number): CriticalSegment[] {
  const startOf = (node: number) => at(columns.start, at(tree.span, node));
  const endOf = (node: number) => {
    const duration = columns.duration[at(tree.span, node)] ?? null;
    return duration === null ? Math.max(now, startOf(node)) : startOf(node) + duration;
  };
  const open = (node: number, start: number, end: number): OpenNode => {
    const children: [number, number][] = [];
    for (let child = node + 1; child < at(tree.end, node); child = at(tree.end, child)) {
      if (startOf(child) < end && endOf(child) > start) children.push([child, Math.min(endOf(child), end)]);
    }
    return { node, start, children: children.sort((a, b) => b[1] - a[1]), next: 0 };
  };
  const segments: CriticalSegment[] = [];
  const add = (node: number, from: number, to: number) => {
    if (to > from) segments.push({ node, from, to });
  };
  let time = endOf(root);
  const stack = [open(root, startOf(root), time)];
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const { node, start, children } = top;
    while (top.next < children.length && (children[top.next]?.[1] ?? 0) > time) top.next++;
    const next = children[top.next++];
    if (next === undefined) {
      add(node, start, time);
      time = Math.min(time, start);
      stack.pop();
    } else {
      const [child, end] = next;
      add(node, end, time);
      time = end;
      stack.push(open(child, Math.max(startOf(child), start), end));
    }
  }
  return segments;
}

/** The root that ends last: the one a reader of the trace waits for. */
export function lastRoot(tree: TraceTree, columns: TraceColumns): number {
  let last = 0;
  let latest = -Infinity;
  for (let root = 0; root < tree.size; root = at(tree.end, root)) {
    const span = at(tree.span, root);
    const end = at(columns.start, span) + (columns.duration[span] ?? Infinity);
    if (end > latest) [last, latest] = [root, end];
  }
  return last;
}
