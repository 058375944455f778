import { at, NO_PARENT, type TraceTree } from './trace-tree.js';

/** The rows that are shown of a tree: nodes without those below a collapsed one. Immutable. */
export class TraceRows {
  readonly tree: TraceTree;
  private readonly collapsed: Uint8Array;
  /** Row → node. */
  readonly nodes: Int32Array;
  /** Node → row, -1 where hidden. */
  private readonly rows: Int32Array;

  private constructor(tree: TraceTree, collapsed: Uint8Array) {
    this.tree = tree;
    this.collapsed = collapsed;
    this.rows = new Int32Array(tree.size).fill(-1);
    const nodes = new Int32Array(tree.size);
    let count = 0;
    for (let node = 0; node < tree.size; node = collapsed[node] ? at(tree.end, node) : node + 1) {
      this.rows[node] = count;
      nodes[count++] = node;
    }
    this.nodes = nodes.subarray(0, count);
  }

  static expanded(tree: TraceTree): TraceRows {
    return new TraceRows(tree, new Uint8Array(tree.size));
  }

  static collapsed(tree: TraceTree): TraceRows {
    return new TraceRows(tree, new Uint8Array(tree.size).fill(1));
  }

  get count(): number {
    return this.nodes.length;
  }

  rowOf(node: number): number {
    return this.rows[node] ?? -1;
  }

  hasChildren(node: number): boolean {
    return at(this.tree.end, node) > node + 1;
  }

  isExpanded(node: number): boolean {
    return this.hasChildren(node) && this.collapsed[node] === 0;
  }

  with(node: number, expanded: boolean): TraceRows {
    if (!this.hasChildren(node) || this.isExpanded(node) === expanded) return this;
    const collapsed = this.collapsed.slice();
    collapsed[node] = expanded ? 0 : 1;
    return new TraceRows(this.tree, collapsed);
  }

  /** With every ancestor of the node expanded. */
  revealing(node: number): TraceRows {
    if (this.rowOf(node) >= 0) return this;
    const collapsed = this.collapsed.slice();
    for (let open = at(this.tree.parent, node); open !== NO_PARENT; open = at(this.tree.parent, open)) {
      collapsed[open] = 0;
    }
    return new TraceRows(this.tree, collapsed);
  }

  /** The node, or its nearest ancestor that is shown. */
  shown(node: number): number {
    if (this.count === 0) return 0;
    let shown = node;
    while (this.rowOf(shown) < 0) shown = at(this.tree.parent, shown);
    return shown;
  }

  /** The same rows for a trace that has grown: what was collapsed stays so, by id. */
  regrown(ids: readonly string[], tree: TraceTree, treeIds: readonly string[]): TraceRows {
    const closed = new Set<string>();
    this.collapsed.forEach((flag, node) => {
      if (flag) closed.add(ids[at(this.tree.span, node)] as string);
    });
    const collapsed = new Uint8Array(tree.size);
    if (closed.size > 0) {
      treeIds.forEach((id, span) => {
        if (closed.has(id)) collapsed[at(tree.nodeOf, span)] = 1;
      });
    }
    return new TraceRows(tree, collapsed);
  }
}

export interface ShownRows {
  readonly rows: TraceRows;
  /** Of the outline's spans. */
  readonly ids: readonly string[];
}

/** Where the span of a row is in the rows of the grown trace; the row itself where it has gone. */
export function rowInGrown(old: ShownRows, grown: ShownRows, row: number): number {
  const node = old.rows.nodes[row];
  if (node === undefined) return row;
  const span = grown.ids.indexOf(old.ids[at(old.rows.tree.span, node)] ?? '');
  return span < 0 ? row : grown.rows.rowOf(grown.rows.shown(at(grown.rows.tree.nodeOf, span)));
}

export interface TreePlace {
  readonly rows: TraceRows;
  readonly active: number;
}

/** Where a key of the treegrid pattern leads; null where the key is none of it. `page` is in rows. */
export function afterTreeKey({ rows, active }: TreePlace, key: string, page: number): TreePlace | null {
  if (rows.count === 0) return null;
  const row = rows.rowOf(active);
  const to = (target: number): TreePlace => ({
    rows,
    active: at(rows.nodes, Math.max(0, Math.min(rows.count - 1, target))),
  });
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return to(row + 1);
    case 'ArrowUp':
    case 'k':
      return to(row - 1);
    case 'PageDown':
      return to(row + page);
    case 'PageUp':
      return to(row - page);
    case 'Home':
      return to(0);
    case 'End':
      return to(rows.count - 1);
    case 'ArrowRight':
      if (rows.isExpanded(active)) return to(row + 1);
      return { rows: rows.with(active, true), active };
    case 'ArrowLeft': {
      if (rows.isExpanded(active)) return { rows: rows.with(active, false), active };
      const parent = at(rows.tree.parent, active);
      return { rows, active: parent === NO_PARENT ? active : parent };
    }
    default:
      return null;
  }
}
