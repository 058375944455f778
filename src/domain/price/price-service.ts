import { LRUCache } from 'lru-cache';
import { DomainError } from '../errors.js';
import type { AuditLog } from '../identity/audit.js';
import type { Principal } from '../identity/identity.js';
import { nameAt, type NameModel } from '../model-name.js';
import { normaliseCost } from '../schema/normalise.js';
import type { ModelUsage, PriceModelCall } from '../span/pricing.js';
import { costAt, type ModelPrice } from './model-price.js';
import { OwnPrices } from './own-prices.js';
import type { PriceStore } from './price-store.js';
import { MAX_PRICES_PER_PROJECT, type ModelPriceInput } from './schema.js';

const MAX_CACHED_PROJECTS = 1_000;

export interface PriceServiceOptions {
  readonly store: PriceStore;
  /** Price of a call for which the project has none of its own. */
  readonly listPrices: PriceModelCall;
  readonly audit: AuditLog;
}

/** Prices of a project's own, and what model calls cost with them. */
export class PriceService {
  readonly #store: PriceStore;
  readonly #listPrices: PriceModelCall;
  readonly #audit: AuditLog;
  readonly #cache = new LRUCache<string, OwnPrices>({ max: MAX_CACHED_PROJECTS });
  #seenChange = -1;
  #checked = false;

  constructor({ store, listPrices, audit }: PriceServiceOptions) {
    this.#store = store;
    this.#listPrices = listPrices;
    this.#audit = audit;
  }

  /** The project's own price of a call, else the list price. A price set by any process counts for the next request. */
  readonly price: PriceModelCall = (projectId, usage) => {
    const own = this.own(projectId, usage);
    return own === undefined ? this.#listPrices(projectId, usage) : costAt(own, usage);
  };

  /** The project's own price of a call. */
  own(projectId: string, { provider, model }: Pick<ModelUsage, 'provider' | 'model'>): ModelPrice | undefined {
    return this.#pricesOf(projectId).find(provider, model);
  }

  /** Whose model is meant, also by the prices that the project has. */
  readonly modelName: NameModel = (projectId, stated, name) => this.#pricesOf(projectId).modelName(stated, name);

  /** Forgets the prices of a project that is deleted. */
  forget(projectId: string): void {
    this.#cache.delete(projectId);
  }

  list(projectId: string): ModelPrice[] {
    return this.#store.list(projectId);
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, provider: string, model: string): ModelPrice {
    const found = this.#pricesOf(projectId).at(provider, model);
    if (found === undefined) throw noPrice();
    return found;
  }

  /** @throws DomainError `conflict` when the project has too many */
  put(by: Principal, provider: string, name: string, input: ModelPriceInput): { price: ModelPrice; created: boolean } {
    const { project_id: projectId } = by;
    const prices = this.#pricesOf(projectId);
    const known = prices.at(provider, name);
    if (known === undefined && prices.size >= MAX_PRICES_PER_PROJECT)
      throw new DomainError('conflict', `A project has at most ${MAX_PRICES_PER_PROJECT} prices: delete one first`);
    const now = Date.now() * 1000;
    const { cache_read_per_million: cacheRead } = input;
    const created = this.#store.put(projectId, {
      ...(known ?? nameAt(provider, name)),
      input_per_million: normaliseCost(input.input_per_million),
      output_per_million: normaliseCost(input.output_per_million),
      cache_read_per_million: cacheRead == null ? null : normaliseCost(cacheRead),
      created_at: now,
      updated_at: now,
    });
    this.#cache.delete(projectId);
    this.#audit.done({ event: 'priceSet', by, project_id: projectId });
    return { price: this.get(projectId, provider, name), created };
  }

  /** @throws DomainError `not_found` */
  remove(by: Principal, provider: string, model: string): void {
    const { project_id: projectId } = by;
    const found = this.get(projectId, provider, model);
    const removed = this.#store.remove(projectId, found.provider, found.model);
    this.#cache.delete(projectId);
    if (!removed) throw noPrice();
    this.#audit.done({ event: 'priceRemoved', by, project_id: projectId });
  }

  #pricesOf(projectId: string): OwnPrices {
    this.#forgetWhenChanged();
    const cached = this.#cache.get(projectId);
    if (cached !== undefined) return cached;
    const prices = new OwnPrices(this.#store.list(projectId));
    this.#cache.set(projectId, prices);
    return prices;
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

function noPrice(): DomainError {
  return new DomainError('not_found', 'The project has no price of its own for this model');
}
