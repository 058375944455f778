import { DomainError } from '../../engine/errors.js';
import { changesBetween, type AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import { nameAt, type NameModel } from '../../engine/models/model-name.js';
import { normalizeCost } from '../../engine/schema/normalize.js';
import type { ModelUsage, PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import { KnownPrices } from './known-prices.js';
import type { ModelPrice } from './model-price.js';
import type { PriceStore } from './price-store.js';
import { MAX_PRICES_PER_PROJECT, type ModelPriceInput } from './schema.js';

export interface PriceServiceOptions {
  readonly store: PriceStore;
  /** Price of a call for which the project has none of its own. */
  readonly listPrices: PriceModelCall;
  readonly audit: AuditLog;
}

/** Prices of a project's own, and what model calls cost with them. */
export class PriceService {
  readonly #store: PriceStore;
  readonly #known: KnownPrices;
  readonly #audit: AuditLog;

  constructor({ store, listPrices, audit }: PriceServiceOptions) {
    this.#store = store;
    this.#known = new KnownPrices(store, listPrices);
    this.#audit = audit;
  }

  /** As of {@link KnownPrices}. */
  get price(): PriceModelCall {
    return this.#known.price;
  }

  /** As of {@link KnownPrices}. */
  get modelName(): NameModel {
    return this.#known.modelName;
  }

  /** The project's own price of a call. */
  own(projectId: string, call: Pick<ModelUsage, 'provider' | 'model'>): ModelPrice | undefined {
    return this.#known.own(projectId, call);
  }

  /** Forgets the prices of a project that is deleted. */
  forget(projectId: string): void {
    this.#known.forget(projectId);
  }

  list(projectId: string): ModelPrice[] {
    return this.#store.list(projectId);
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, provider: string, model: string): ModelPrice {
    const found = this.#known.of(projectId).at(provider, model);
    if (found === undefined) throw noPrice();
    return found;
  }

  /** @throws DomainError `conflict` when the project has too many */
  put(by: Principal, provider: string, name: string, input: ModelPriceInput): { price: ModelPrice; created: boolean } {
    const { project_id: projectId } = by;
    const prices = this.#known.of(projectId);
    const known = prices.at(provider, name);
    if (known === undefined && prices.size >= MAX_PRICES_PER_PROJECT)
      throw new DomainError('conflict', `A project has at most ${MAX_PRICES_PER_PROJECT} prices: delete one first`);
    const now = Date.now() * 1000;
    const { cache_read_per_million: cacheRead } = input;
    const price = {
      ...(known ?? nameAt(provider, name)),
      input_per_million: normalizeCost(input.input_per_million),
      output_per_million: normalizeCost(input.output_per_million),
      cache_read_per_million: cacheRead == null ? null : normalizeCost(cacheRead),
      created_at: now,
      updated_at: now,
    };
    const created = this.#audit.together(() => {
      const changes = known === undefined ? [] : changesBetween<ModelPrice>(known, price, PRICES);
      this.#audit.done({ event: 'priceSet', by, project_id: projectId, subject_name: nameOf(price), changes });
      return this.#store.put(projectId, price);
    });
    this.#known.forget(projectId);
    return { price: this.get(projectId, provider, name), created };
  }

  /** @throws DomainError `not_found` */
  remove(by: Principal, provider: string, model: string): void {
    const { project_id: projectId } = by;
    const found = this.get(projectId, provider, model);
    this.#audit.together(() => {
      if (!this.#store.remove(projectId, found.provider, found.model)) throw noPrice();
      this.#audit.done({ event: 'priceRemoved', by, project_id: projectId, subject_name: nameOf(found) });
    });
    this.#known.forget(projectId);
  }
}

const PRICES = ['input_per_million', 'output_per_million', 'cache_read_per_million'] as const;

function nameOf({ provider, model }: Pick<ModelPrice, 'provider' | 'model'>): string {
  return `${provider}/${model}`;
}

function noPrice(): DomainError {
  return new DomainError('not_found', 'The project has no custom price for this model');
}
