import type { Version } from '../commit/version-clock.js';

/** One thing of one project that a commit changed. */
export interface DirtyItem {
  readonly projectId: string;
  readonly id: string;
}

interface Marked extends DirtyItem {
  /** When it was marked, as a count of marks. */
  readonly mark: number;
  /** The commit that first changed it since it was last clean. */
  readonly since: Version;
}

/** What waits to be recomputed, oldest first, each once. */
export class DirtySet {
  readonly #items = new Map<string, Marked>();

  get size(): number {
    return this.#items.size;
  }

  add(projectId: string, id: string, mark: number, since: Version): void {
    const key = `${projectId}/${id}`;
    if (!this.#items.has(key)) this.#items.set(key, { projectId, id, mark, since });
  }

  /** Removes and returns the oldest. */
  take(count: number): Marked[] {
    const taken: Marked[] = [];
    for (const [key, item] of this.#items) {
      if (taken.length >= count) break;
      taken.push(item);
      this.#items.delete(key);
    }
    return taken;
  }

  /** Puts back what could not be recomputed, in front of the rest. */
  restore(items: readonly Marked[]): void {
    const later = [...this.#items];
    this.#items.clear();
    for (const item of items) this.#items.set(`${item.projectId}/${item.id}`, item);
    for (const [key, item] of later) if (!this.#items.has(key)) this.#items.set(key, item);
  }

  /** The oldest item, which was marked before all others. */
  first(): Marked | undefined {
    return this.#items.values().next().value;
  }
}
