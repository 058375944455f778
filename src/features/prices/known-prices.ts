import { LRUCache } from 'lru-cache';
import type { NameModel } from '../../engine/models/model-name.js';
import type { ModelUsage, PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import { costAt, type ModelPrice } from './model-price.js';
import { OwnPrices } from './own-prices.js';
import type { PriceStore } from './price-store.js';

const MAX_CACHED_PROJECTS = 1_000;

/** What model calls cost: by the prices that projects have of their own, kept until another connection writes, else by list. */
export class KnownPrices {
  readonly #store: Pick<PriceStore, 'changeCounter' | 'list'>;
  readonly #listPrices: PriceModelCall;
  readonly #cache = new LRUCache<string, OwnPrices>({ max: MAX_CACHED_PROJECTS });
  #seenChange = -1;
  #checked = false;

  /** @param listPrices price of a call for which the project has none of its own */
  constructor(store: Pick<PriceStore, 'changeCounter' | 'list'>, listPrices: PriceModelCall) {
    this.#store = store;
    this.#listPrices = listPrices;
  }

  /** The project's own price of a call, else the list price. A price set on any connection counts for the next request. */
  readonly price: PriceModelCall = (projectId, usage) => {
    const own = this.own(projectId, usage);
    return own === undefined ? this.#listPrices(projectId, usage) : costAt(own, usage);
  };

  /** The project's own price of a call. */
  own(projectId: string, { provider, model }: Pick<ModelUsage, 'provider' | 'model'>): ModelPrice | undefined {
    return this.of(projectId).find(provider, model);
  }

  /** Whose model is meant, also by the prices that the project has. */
  readonly modelName: NameModel = (projectId, stated, name) => this.of(projectId).modelName(stated, name);

  /** The project's own prices. @throws DomainError `unavailable` */
  of(projectId: string): OwnPrices {
    this.#forgetWhenChanged();
    const cached = this.#cache.get(projectId);
    if (cached !== undefined) return cached;
    const prices = new OwnPrices(this.#store.list(projectId));
    this.#cache.set(projectId, prices);
    return prices;
  }

  /** Forgets the prices of a project, which were changed on this connection. */
  forget(projectId: string): void {
    this.#cache.delete(projectId);
  }

  /** Drops cached prices after a change. Checks once for all spans that are priced in one go. */
  #forgetWhenChanged(): void {
    if (this.#checked) return;
    this.#checked = true;
    queueMicrotask(() => (this.#checked = false));
    const change = this.#store.changeCounter();
    if (change === this.#seenChange) return;
    this.#cache.clear();
    this.#seenChange = change;
  }
}
