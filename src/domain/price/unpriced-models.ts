import type { Window } from '../schema/page.js';
import type { PriceModelCall } from '../span/pricing.js';
import type { Micros } from '../time/timestamp.js';

/** When spans started, inclusive; null: at any time. */
export interface SpanTimes {
  readonly from: Micros | null;
  readonly to: Micros | null;
}

/** Calls of a model whose tokens are known and whose cost is not. */
export interface CallsWithoutCost {
  readonly provider: string | null;
  readonly model: string;
  readonly spans: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** When the latest of them started. */
  readonly latest: Micros;
}

/** The spans whose cost is not known, by model. @throws DomainError `unavailable` */
export interface UnpricedCalls {
  /** Those with most spans first. */
  page(
    projectId: string,
    times: SpanTimes,
    window: Window,
    signal?: AbortSignal,
  ): Promise<{ readonly models: readonly CallsWithoutCost[]; readonly total: number }>;
}

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
