import { batch, computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { criticalPath, lastRoot } from '../../../model/critical-path.js';
import { firstLookedAt, nextMarked, type Marks } from '../../../model/trace-marks.js';
import { afterTreeKey, TraceRows } from '../../../model/trace-rows.js';
import { sumsOf, type TraceSums } from '../../../model/trace-sums.js';
import { at, buildTraceTree, type TraceTree } from '../../../model/trace-tree.js';
import type { TraceOutline } from '../../../model/trace-outline.js';

/** A part of the trace's time, in milliseconds after its start. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** What one trace's view shows at the moment: the keyboard, the toolbar, the URL and the detail all meet here. */
export class TraceView {
  readonly outline: Signal<TraceOutline>;
  readonly tree: ReadonlySignal<TraceTree>;
  readonly rows: Signal<TraceRows>;
  /** The node that keys act on. */
  readonly active = signal(0);
  readonly #selected = signal<number | null>(null);
  readonly #isPreselected = signal(false);
  /** Whether its reader has closed the detail, which then opens for a choice alone. */
  #isClosed = false;
  readonly sums: ReadonlySignal<TraceSums>;
  readonly bounds: ReadonlySignal<TimeRange>;
  readonly zoom = signal<TimeRange | null>(null);
  /** Nodes that a search found; null: nothing is looked for. */
  readonly found = signal<Marks | null>(null);
  readonly pathShown = signal(false);
  /** By node, the stretches in which the whole trace waited for it. */
  readonly path: ReadonlySignal<ReadonlyMap<number, readonly TimeRange[]>>;

  constructor(outline: TraceOutline) {
    this.outline = signal(outline);
    this.rows = signal(TraceRows.expanded(buildTraceTree(outline)));
    this.tree = computed(() => this.rows.value.tree);
    this.sums = computed(() => sumsOf(this.tree.value, this.outline.value));
    this.bounds = computed(() => boundsOf(this.outline.value));
    this.path = computed(() => (this.pathShown.value ? this.#criticalPath() : new Map<number, TimeRange[]>()));
  }

  /** The node whose detail is open. */
  get selected(): ReadonlySignal<number | null> {
    return this.#selected;
  }

  /** Whether the view selected it by itself: until its reader chooses something, that is nothing to keep in the address. */
  get isPreselected(): ReadonlySignal<boolean> {
    return this.#isPreselected;
  }

  /** What its reader chooses; null: they close the detail. */
  select(node: number | null): void {
    this.#isClosed = node === null;
    batch(() => {
      this.#selected.value = node;
      this.#isPreselected.value = false;
    });
  }

  /** Selects what is looked at first, unless its reader has closed that. */
  preselect(): void {
    const node = this.#isClosed ? null : firstLookedAt(this.tree.peek(), this.outline.peek().hasError);
    batch(() => {
      if (node !== null) this.reveal(node);
      this.#selected.value = node;
      this.#isPreselected.value = node !== null;
    });
  }

  spanOf(node: number): number {
    return at(this.tree.value.span, node);
  }

  /** The node of a span; null: the trace has none with this id. */
  nodeOf(id: string): number | null {
    const span = this.outline.peek().id.indexOf(id);
    return span < 0 ? null : at(this.tree.peek().nodeOf, span);
  }

  /** The time of a node, in which what still runs lasts to the end. */
  timeOf(node: number): TimeRange {
    const { start, duration } = this.outline.value;
    const span = this.spanOf(node);
    const from = at(start, span);
    return { from, to: Math.max(from, from + (duration[span] ?? this.bounds.value.to - from)) };
  }

  /** Goes to a node, wherever it is hidden. */
  reveal(node: number): void {
    this.#place(this.rows.peek().revealing(node), node);
  }

  /** To the next marked node. @returns whether there is one */
  revealMarked(marks: Marks, direction: 1 | -1): boolean {
    const node = nextMarked(marks, this.active.peek(), direction);
    if (node !== null) this.reveal(node);
    return node !== null;
  }

  toggle(node: number): void {
    const rows = this.rows.peek();
    this.#show(rows.with(node, !rows.isExpanded(node)));
  }

  collapseAll(): void {
    this.#show(TraceRows.collapsed(this.tree.peek()));
  }

  expandAll(): void {
    this.#show(TraceRows.expanded(this.tree.peek()));
  }

  /** @returns whether the key was one of the tree's */
  press(key: string, page: number): boolean {
    const active = this.active.peek();
    if (key === 'Enter') {
      this.select(active);
      return true;
    }
    const place = afterTreeKey({ rows: this.rows.peek(), active }, key, page);
    if (!place) return false;
    this.#place(place.rows, place.active);
    return true;
  }

  /** A running trace's newer outline: what is active, selected and collapsed stays so. */
  grow(outline: TraceOutline): void {
    const [old, oldTree] = [this.outline.peek(), this.tree.peek()];
    const tree = buildTraceTree(outline);
    const places = new Map(outline.id.map((id, span) => [id, span]));
    const moved = (node: number) => {
      const span = places.get(old.id[at(oldTree.span, node)] ?? '');
      return span === undefined ? null : at(tree.nodeOf, span);
    };
    const [active, selected] = [this.active.peek(), this.selected.peek()];
    const rows = this.rows.peek().regrown(old.id, tree, outline.id);
    batch(() => {
      this.outline.value = outline;
      this.#place(rows, rows.shown(moved(active) ?? 0));
      this.#selected.value = selected === null ? null : moved(selected);
      this.found.value = null;
    });
  }

  #criticalPath(): Map<number, TimeRange[]> {
    const found = new Map<number, TimeRange[]>();
    const { tree, outline } = { tree: this.tree.value, outline: this.outline.value };
    if (tree.size === 0) return found;
    for (const { node, from, to } of criticalPath(tree, outline, lastRoot(tree, outline), this.bounds.value.to)) {
      const known = found.get(node);
      if (known === undefined) found.set(node, [{ from, to }]);
      else known.push({ from, to });
    }
    return found;
  }

  #show(rows: TraceRows): void {
    this.#place(rows, rows.shown(this.active.peek()));
  }

  #place(rows: TraceRows, active: number): void {
    batch(() => {
      this.rows.value = rows;
      this.active.value = active;
    });
  }
}

function boundsOf({ start, duration }: TraceOutline): TimeRange {
  let [from, to] = [Infinity, -Infinity];
  for (let span = 0; span < start.length; span += 1) {
    const begin = at(start, span);
    from = Math.min(from, begin);
    to = Math.max(to, begin + (duration[span] ?? 0));
  }
  if (to > from) return { from, to };
  return Number.isFinite(from) ? { from, to: from + 1 } : { from: 0, to: 1 };
}
