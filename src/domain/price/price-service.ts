import { LRUCache } from 'lru-cache';
import { DomainError } from '../errors.js';
import { normaliseCost } from '../schema/normalise.js';
import type { PriceModelCall } from '../span/pricing.js';
import { costAt, type ModelPrice } from './model-price.js';
import type { PriceStore } from './price-store.js';
import type { ModelPriceInput } from './schema.js';

/** Bound that keeps the prices of a project one answer, and in memory. */
const MAX_PRICES_PER_PROJECT = 10_000;
const MAX_CACHED_PROJECTS = 1_000;

export interface PriceServiceOptions {
  readonly store: PriceStore;
  /** Price of a call for which the project has none of its own. */
  readonly listPrices: PriceModelCall;
}

/** Prices of a project's own, and what model calls cost with them. */
export class PriceService {
  readonly #store: PriceStore;
  readonly #listPrices: PriceModelCall;
  readonly #cache = new LRUCache<string, ReadonlyMap<string, ModelPrice>>({ max: MAX_CACHED_PROJECTS });
  #seenChange = -1;
  #checked = false;

  constructor({ store, listPrices }: PriceServiceOptions) {
    this.#store = store;
    this.#listPrices = listPrices;
  }

  /** The project's own price of a call, else the list price. A price set by any process counts for the next request. */
  readonly price: PriceModelCall = (projectId, usage) => {
    const own = this.#pricesOf(projectId).get(keyOf(usage.provider, usage.model));
    return own === undefined ? this.#listPrices(projectId, usage) : costAt(own, usage);
  };

  /** Forgets the prices of a project that is deleted. */
  forget(projectId: string): void {
    this.#cache.delete(projectId);
  }

  list(projectId: string): ModelPrice[] {
    return this.#store.list(projectId);
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, provider: string, model: string): ModelPrice {
    const found = this.#store.find(projectId, provider, model);
    if (found === undefined) throw noPrice();
    return found;
  }

  /** @throws DomainError `conflict` when the project has too many */
  put(
    projectId: string,
    provider: string,
    model: string,
    input: ModelPriceInput,
  ): { price: ModelPrice; created: boolean } {
    const known = this.#store.find(projectId, provider, model);
    if (known === undefined && this.#store.list(projectId).length >= MAX_PRICES_PER_PROJECT)
      throw new DomainError('conflict', `A project has at most ${MAX_PRICES_PER_PROJECT} prices: delete one first`);
    const now = Date.now() * 1000;
    const { cache_read_per_million: cacheRead } = input;
    const created = this.#store.put(projectId, {
      provider,
      model,
      input_per_million: normaliseCost(input.input_per_million),
      output_per_million: normaliseCost(input.output_per_million),
      cache_read_per_million: cacheRead == null ? null : normaliseCost(cacheRead),
      created_at: now,
      updated_at: now,
    });
    this.#cache.delete(projectId);
    return { price: this.get(projectId, provider, model), created };
  }

  /** @throws DomainError `not_found` */
  remove(projectId: string, provider: string, model: string): void {
    const removed = this.#store.remove(projectId, provider, model);
    this.#cache.delete(projectId);
    if (!removed) throw noPrice();
  }

  #pricesOf(projectId: string): ReadonlyMap<string, ModelPrice> {
    this.#forgetWhenChanged();
    const cached = this.#cache.get(projectId);
    if (cached !== undefined) return cached;
    const prices = new Map(this.#store.list(projectId).map((price) => [keyOf(price.provider, price.model), price]));
    this.#cache.set(projectId, prices);
    return prices;
  }

  /** Drops cached prices after a change. Checks once for all spans of a request, which are priced in one go. */
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

/** Key of a price. Only A to Z become lower case, as in the comparisons of the stores. */
function keyOf(provider: string, model: string): string {
  return `${provider}\n${model}`.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function noPrice(): DomainError {
  return new DomainError('not_found', 'The project has no price of its own for this model');
}
