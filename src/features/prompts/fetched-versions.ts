import { LRUCache } from 'lru-cache';
import type { SelectedVersion, VersionSelector } from './prompt.js';
import type { PromptStore } from './prompt-store.js';

/** How much of fetched versions is kept in memory, in characters of JSON; presenters may keep that text as well. */
const CACHE_SIZE = 16 * 1024 * 1024;
const MAX_CACHED = 10_000;
/** One entry larger than this is read from the store each time. */
const MAX_ENTRY_SIZE = CACHE_SIZE / 2;

/** Versions that were fetched, by what was asked for, as long as no process writes to the metadata. */
export class FetchedVersions {
  readonly #store: Pick<PromptStore, 'changeCounter'>;
  readonly #versions = new LRUCache<string, SelectedVersion>({
    max: MAX_CACHED,
    maxSize: CACHE_SIZE,
    maxEntrySize: MAX_ENTRY_SIZE,
    sizeCalculation: (version, key) => JSON.stringify(version).length + key.length,
  });
  #seenChange = -1;

  constructor(store: Pick<PromptStore, 'changeCounter'>) {
    this.#store = store;
  }

  /** The same object each time, until something is written. */
  find(projectId: string, slug: string, selector: VersionSelector): SelectedVersion | undefined {
    const change = this.#store.changeCounter();
    if (change !== this.#seenChange) this.clear();
    this.#seenChange = change;
    return this.#versions.get(keyOf(projectId, slug, selector));
  }

  keep(projectId: string, slug: string, selector: VersionSelector, version: SelectedVersion): void {
    this.#versions.set(keyOf(projectId, slug, selector), version);
  }

  clear(): void {
    this.#versions.clear();
  }
}

function keyOf(projectId: string, slug: string, selector: VersionSelector): string {
  return `${projectId}\n${slug}\n${selectorKey(selector)}`;
}

function selectorKey(selector: VersionSelector): string {
  switch (selector.by) {
    case 'number':
      return `v${selector.version}`;
    case 'hash':
      return `h${selector.hash}`;
    case 'tag':
      return `t${selector.tag}`;
  }
}
