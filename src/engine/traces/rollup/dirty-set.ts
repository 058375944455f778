import type { Version } from '../write/version-clock.js';

/** A trace or session that a commit changed. */
export interface DirtyItem {
  readonly projectId: string;
  readonly id: string;
}

export interface WaitingItem extends DirtyItem {
  /** The first commit that changed the item since it was last rolled up. */
  readonly since: Version;
  /** The last commit that changed the item. */
  readonly last: Version;
  /** Whether that commit removed the trace whole, so that nothing of it counts anymore. */
  readonly removed?: boolean;
}

/** Projects whose reads wait have this share of what is taken; the others must not wait for ever. */
const AWAITED_SHARE = 0.75;

/** Traces, or sessions, that wait to be recomputed, each once; those of one project from the oldest on. */
export class DirtySet {
  readonly #projects = new Map<string, DirtyItems>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many items of a project wait. */
  sizeOf(projectId: string): number {
    return this.#projects.get(projectId)?.size ?? 0;
  }

  add(item: WaitingItem): void {
    const items = this.#projects.get(item.projectId) ?? new DirtyItems();
    this.#projects.set(item.projectId, items);
    if (items.add(item)) this.#size += 1;
  }

  /**
   * Removes and returns the oldest items of every project, as many of each as of any other where there are too many.
   * @param awaited projects that are first
   * @param until of each project, the last commit whose changes may be taken
   */
  take(
    count: number,
    awaited: ReadonlySet<string> = new Set(),
    until: (projectId: string) => Version = () => Infinity,
  ): WaitingItem[] {
    const taken: WaitingItem[] = [];
    const byAge = [...this.#projects.entries()].sort(([, one], [, other]) => one.since - other.since);
    const projects = byAge.map(([projectId]) => projectId);
    const first = projects.filter((projectId) => awaited.has(projectId));
    this.#takeEvenly(taken, Math.ceil(count * AWAITED_SHARE), first, until);
    this.#takeEvenly(taken, count, projects, until);
    return taken;
  }

  /** Puts back items that could not be recomputed, in front of the rest. */
  restore(items: readonly WaitingItem[]): void {
    const later = new Map(this.#projects);
    this.#projects.clear();
    this.#size = 0;
    for (const item of items) this.add(item);
    for (const project of later.values()) for (const item of project) this.add(item);
  }

  /** Since when the item that waits longest has; Infinity when none waits. @param projectId default: of any */
  since(projectId?: string): Version {
    if (projectId !== undefined) return this.#projects.get(projectId)?.since ?? Infinity;
    let since = Infinity;
    for (const items of this.#projects.values()) since = Math.min(since, items.since);
    return since;
  }

  /** The ids of a project's items that wait. */
  idsOf(projectId: string): string[] {
    return [...(this.#projects.get(projectId)?.ids() ?? [])];
  }

  /** Since when an item has waited; Infinity when it does not. */
  sinceOf({ projectId, id }: DirtyItem): Version {
    return this.#projects.get(projectId)?.sinceOf(id) ?? Infinity;
  }

  #takeEvenly(
    taken: WaitingItem[],
    upTo: number,
    projects: readonly string[],
    until: (projectId: string) => Version,
  ): void {
    let left = projects.filter((projectId) => this.#projects.has(projectId));
    while (left.length > 0 && taken.length < upTo) {
      const share = Math.ceil((upTo - taken.length) / left.length);
      left = left.filter((projectId) => {
        const wanted = Math.min(share, upTo - taken.length);
        const more = this.#takeOf(projectId, wanted, until(projectId));
        taken.push(...more);
        return more.length === wanted && this.#projects.has(projectId);
      });
    }
  }

  #takeOf(projectId: string, count: number, until: Version): WaitingItem[] {
    const items = this.#projects.get(projectId);
    if (items === undefined) return [];
    const taken = items.take(count, until);
    this.#size -= taken.length;
    if (items.size === 0) this.#projects.delete(projectId);
    return taken;
  }
}

/** The waiting items of one project; never empty except for a moment. */
class DirtyItems {
  readonly #items = new Map<string, WaitingItem>();
  #since: Version = Infinity;

  get size(): number {
    return this.#items.size;
  }

  get since(): Version {
    return this.#since;
  }

  ids(): Iterable<string> {
    return this.#items.keys();
  }

  sinceOf(id: string): Version | undefined {
    return this.#items.get(id)?.since;
  }

  add(item: WaitingItem): boolean {
    const before = this.#items.get(item.id);
    const since = Math.min(item.since, before?.since ?? Infinity);
    const latest = before === undefined || item.last >= before.last ? item : before;
    this.#items.set(item.id, { ...latest, since });
    this.#since = Math.min(this.#since, since);
    return before === undefined;
  }

  take(count: number, until: Version): WaitingItem[] {
    const taken: WaitingItem[] = [];
    for (const item of this.#items.values()) {
      if (taken.length >= count) break;
      if (item.since > until) continue;
      taken.push(item);
      this.#items.delete(item.id);
    }
    // The first item need not be the oldest: those that a repair marks come last, and may have changed long ago.
    this.#since = Infinity;
    for (const { since } of this.#items.values()) this.#since = Math.min(this.#since, since);
    return taken;
  }

  [Symbol.iterator](): Iterator<WaitingItem> {
    return this.#items.values();
  }
}
