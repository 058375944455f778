import { LRUCache } from 'lru-cache';
import { Masker } from './masker.js';
import type { MaskingStore } from './rule.js';

const MAX_CACHED_PROJECTS = 1_000;

/** What masks by the rules of a project; null: it has none. */
export type MaskerOf = (projectId: string) => Masker | null;

/** A project without rules. */
const NONE = { version: 0, masker: null };
type Known = { readonly version: number; readonly masker: Masker | null };

/** What masks, by project: made once for each version of its rules. */
export class Maskers {
  readonly #store: Pick<MaskingStore, 'find'>;
  readonly #cache = new LRUCache<string, Known>({ max: MAX_CACHED_PROJECTS });

  constructor(store: Pick<MaskingStore, 'find'>) {
    this.#store = store;
  }

  /** What masks by the rules of a project as they were set here. @throws DomainError `unavailable` */
  readonly of: MaskerOf = (projectId) => this.#known(projectId).masker;

  /** The version of the rules that mask; null: none do. @throws DomainError `unavailable` */
  readonly versionOf = (projectId: string): number | null => this.of(projectId)?.version ?? null;

  /** What masks by a version of the rules, or a later one: the caller knows that it exists. @param version null: none do */
  at(projectId: string, version: number | null): Masker | null {
    if (version === null) return null;
    // Fewer than is known, too: a project may be created again with the id of a deleted one.
    if (this.#known(projectId).version !== version) this.forget(projectId);
    return this.#known(projectId).masker;
  }

  /** Forgets the rules of a project, which were changed. */
  forget(projectId: string): void {
    this.#cache.delete(projectId);
  }

  #known(projectId: string): Known {
    const cached = this.#cache.get(projectId);
    if (cached !== undefined) return cached;
    const kept = this.#store.find(projectId);
    const known =
      kept === undefined ? NONE : { version: kept.version, masker: kept.rules.length === 0 ? null : new Masker(kept) };
    this.#cache.set(projectId, known);
    return known;
  }
}
