import type { TraceOutline } from './trace-outline.js';
import { at, ROOT, type TraceTree } from './trace-tree.js';

/** A flag for each node. */
export type Marks = Uint8Array;

export function markNodes(tree: TraceTree, matches: (span: number) => boolean): Marks {
  return Uint8Array.from(tree.span, (span) => (matches(span) ? 1 : 0));
}

/** Nodes whose name or model holds the text, in any case, or whose id it is; each name is looked at once. */
export function findSpans(
  tree: TraceTree,
  { id, name, names, modelOf }: Pick<TraceOutline, 'id' | 'name' | 'names' | 'modelOf'>,
  text: string,
): Marks {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return new Uint8Array(tree.size);
  const hits = Uint8Array.from(names, (candidate) => (candidate.toLowerCase().includes(wanted) ? 1 : 0));
  const models = new Map<string | null, boolean>();
  const isModel = (model: string | null) => {
    const known = models.get(model) ?? model?.toLowerCase().includes(wanted) === true;
    models.set(model, known);
    return known;
  };
  return markNodes(tree, (span) => hits[at(name, span)] === 1 || isModel(modelOf(span)) || id[span] === wanted);
}

export function countMarks(marks: Marks): number {
  let count = 0;
  for (const mark of marks) count += mark;
  return count;
}

/** The next marked node in the order shown, hidden ones too, around the end; null where none is marked. */
export function nextMarked(marks: Marks, from: number, direction: 1 | -1): number | null {
  const size = marks.length;
  for (let step = 1; step <= size; step++) {
    const node = (((from + direction * step) % size) + size) % size;
    if (marks[node] === 1) return node;
  }
  return null;
}

/** How many marked nodes come up to and including this one: “3 of 17”. */
export function placeAmongMarks(marks: Marks, node: number): number {
  return countMarks(marks.subarray(0, node + 1));
}

/**
 * The node that a reader looks at first: the first failed one below which nothing else failed, as what is above it mostly failed
 * because of it; else the first root. Null: the tree has none.
 */
export function firstLookedAt(tree: TraceTree, hasError: (span: number) => boolean): number | null {
  let failed = -1;
  for (let node = 0; node < tree.size; node++) {
    if (!hasError(at(tree.span, node))) continue;
    if (failed >= 0 && node >= at(tree.end, failed)) break;
    failed = node;
  }
  if (failed >= 0) return failed;
  // Spans of a missing parent may have started before the true root.
  return tree.size === 0 ? null : Math.max(0, tree.root.indexOf(ROOT.root));
}
