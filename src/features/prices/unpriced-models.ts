import type { Window } from '../../engine/schema/page.js';
import type { PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import type { SpanTimes, CallsWithoutCost, UnpricedCalls } from '../../engine/traces/model/prices/unpriced-calls.js';

export interface UnpricedModel extends CallsWithoutCost {
  /** Whether there is a price by now: recalculating costs would then give these spans theirs. */
  readonly has_price: boolean;
}

/** Models whose calls have no cost, as their price is not known, or was not when they came. */
export class UnpricedModels {
  readonly #calls: UnpricedCalls;
  readonly #price: PriceModelCall;

  constructor(calls: UnpricedCalls, price: PriceModelCall) {
    this.#calls = calls;
    this.#price = price;
  }

  /** @throws DomainError `unavailable` */
  async list(projectId: string, times: SpanTimes, window: Window, signal?: AbortSignal) {
    const { models, total } = await this.#calls.page(projectId, times, window, signal);
    return {
      models: models.map((each): UnpricedModel => ({ ...each, has_price: this.#hasPrice(projectId, each) })),
      total,
    };
  }

  #hasPrice(projectId: string, { provider, model, latest }: CallsWithoutCost): boolean {
    const tokens = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    return this.#price(projectId, { provider, model, ...tokens, at: new Date(latest / 1000) }) !== null;
  }
}
