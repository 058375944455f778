import type { Touched } from './commit-follower.js';

/** Reports commits to those who wait for commits to a project. */
export class CommitNews {
  readonly #listeners = new Map<string, Set<() => void>>();

  /** @returns what ends it */
  on(projectId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(projectId) ?? new Set();
    this.#listeners.set(projectId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(projectId);
    };
  }

  /** Call after a commit can be read. */
  committed(touched: readonly Touched[]): void {
    if (this.#listeners.size === 0) return;
    for (const projectId of new Set(touched.map((each) => each.projectId)))
      for (const listener of this.#listeners.get(projectId) ?? []) listener();
  }
}
