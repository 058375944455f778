import type { Version } from '../commit/version-clock.js';

/** One thing of one project that a commit changed. */
export interface DirtyItem {
  readonly projectId: string;
  readonly id: string;
}

/** How long something has waited. */
export interface Age {
  /** When it was marked, as a count of marks. */
  readonly mark: number;
  /** The commit that first changed it since it was last clean. */
  readonly since: Version;
}

interface Marked extends DirtyItem, Age {}

/** Projects whose reads wait have this share of what is taken; the others must not wait for ever. */
const AWAITED_SHARE = 0.75;

/** What waits to be recomputed, each once; of a project, the oldest first. */
export class DirtySet {
  readonly #projects = new Map<string, DirtyItems>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(projectId: string, id: string, mark: number, since: Version): void {
    const items = this.#projects.get(projectId) ?? new DirtyItems();
    this.#projects.set(projectId, items);
    if (items.add({ projectId, id, mark, since })) this.#size += 1;
  }

  /**
   * Removes and returns the oldest of every project, as many of each as of any other where there are too many.
   * @param awaited projects that are first
   */
  take(count: number, awaited: ReadonlySet<string> = new Set()): Marked[] {
    const taken: Marked[] = [];
    const byAge = [...this.#projects.entries()].sort(([, one], [, other]) => one.oldest.mark - other.oldest.mark);
    const projects = byAge.map(([projectId]) => projectId);
    const first = projects.filter((projectId) => awaited.has(projectId));
    this.#takeEvenly(taken, Math.ceil(count * AWAITED_SHARE), first);
    this.#takeEvenly(taken, count, projects);
    return taken;
  }

  /** Puts back what could not be recomputed, in front of the rest. */
  restore(items: readonly Marked[]): void {
    const later = new Map(this.#projects);
    this.#projects.clear();
    this.#size = 0;
    for (const { projectId, id, mark, since } of items) this.add(projectId, id, mark, since);
    for (const project of later.values())
      for (const { projectId, id, mark, since } of project) this.add(projectId, id, mark, since);
  }

  /** How long what has waited longest has; undefined when nothing waits. @param projectId default: of any */
  oldest(projectId?: string): Age | undefined {
    return projectId === undefined
      ? eldest([...this.#projects.values()].map(({ oldest }) => oldest))
      : this.#projects.get(projectId)?.oldest;
  }

  #takeEvenly(taken: Marked[], upTo: number, projects: readonly string[]): void {
    const left = () => projects.flatMap((projectId) => this.#projects.get(projectId) ?? []);
    for (let some = left(); some.length > 0 && taken.length < upTo; some = left()) {
      const share = Math.ceil((upTo - taken.length) / some.length);
      for (const items of some) {
        const more = items.take(Math.min(share, upTo - taken.length));
        taken.push(...more);
        this.#size -= more.length;
      }
      for (const projectId of projects) if (this.#projects.get(projectId)?.size === 0) this.#projects.delete(projectId);
    }
  }
}

/** Of one project, and never empty but for a moment. */
class DirtyItems {
  readonly #items = new Map<string, Marked>();
  #since: Version = Infinity;

  get size(): number {
    return this.#items.size;
  }

  get oldest(): Age {
    const [first] = this.#items.values();
    return { mark: first?.mark ?? Infinity, since: this.#since };
  }

  add(item: Marked): boolean {
    if (this.#items.has(item.id)) return false;
    this.#items.set(item.id, item);
    this.#since = Math.min(this.#since, item.since);
    return true;
  }

  take(count: number): Marked[] {
    const taken: Marked[] = [];
    for (const item of this.#items.values()) {
      if (taken.length >= count) break;
      taken.push(item);
      this.#items.delete(item.id);
    }
    this.#since = Infinity;
    for (const { since } of this.#items.values()) this.#since = Math.min(this.#since, since);
    return taken;
  }

  [Symbol.iterator](): Iterator<Marked> {
    return this.#items.values();
  }
}

/** The earliest mark and commit of all. */
export function eldest(ages: readonly (Age | undefined)[]): Age | undefined {
  const known = ages.filter((age) => age !== undefined);
  if (known.length === 0) return undefined;
  return {
    mark: Math.min(...known.map(({ mark }) => mark)),
    since: Math.min(...known.map(({ since }) => since)),
  };
}
