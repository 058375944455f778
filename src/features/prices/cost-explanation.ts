import { MAX_TRACES_NAMED, onlyTrace, type SpanId } from '../../engine/traces/model/list/one.js';
import { costOf, modelUsage } from '../../engine/traces/model/span/pricing.js';
import { PRICED_KINDS, statedModel } from '../../engine/traces/model/span/usage.js';
import { atListPrice, atOwnPrice, type AppliedPrice } from './cost-lines.js';
import type { PriceService } from './price-service.js';
import type { PricedSpan, PricedSpans } from '../../engine/traces/model/prices/priced-spans.js';

/** Why a cost is what it is, or is not known. */
export const COST_REASONS = {
  sent: 'The client sent this cost, which is never changed.',
  priced: 'The cost is tokens times price.',
  price_changed:
    'The cost was calculated at an earlier price. POST …/model-prices:reprice recalculates stored costs; `sum` is what it would be.',
  price_gone: 'The cost was calculated at a price that no longer exists.',
  not_repriced: 'A price was added after the span arrived. POST …/model-prices:reprice recalculates stored costs.',
  not_priced:
    'Only spans of kind llm, embedding or reranker are priced: others repeat the usage of the calls below them.',
  no_model: 'The span does not name a model. Send it as attribute `model`, with `provider`.',
  no_tokens: 'The span has no token counts. Send them as attributes `inputTokens` and `outputTokens`.',
  no_price:
    'This model has no price. Set one with PUT …/model-prices/{provider}/{model}, then recalculate stored costs with ' +
    'POST …/model-prices:reprice.',
} as const;
export type CostReason = keyof typeof COST_REASONS;

/** How the cost of a span came about. */
export interface CostExplanation extends Pick<PricedSpan, 'trace_id' | 'cost'> {
  readonly span_id: string;
  readonly source: 'sent' | AppliedPrice['source'] | 'unknown';
  readonly reason: CostReason;
  /** As the span names them. */
  readonly provider: string | null;
  readonly model: string | null;
  /** The price that the call has now; null: none. */
  readonly price: AppliedPrice | null;
  /** The cost at that price. */
  readonly sum: number | null;
}

/** Explains costs by the definition that they are calculated by. */
export class CostExplainer {
  readonly #prices: Pick<PriceService, 'price' | 'own'>;
  readonly #spans: PricedSpans;

  constructor(prices: Pick<PriceService, 'price' | 'own'>, spans: PricedSpans) {
    this.#prices = prices;
    this.#spans = spans;
  }

  /** @throws DomainError `not_found`; `conflict` when several traces have such a span; `unavailable` */
  async of(projectId: string, id: SpanId, signal?: AbortSignal): Promise<CostExplanation> {
    const found = await this.#spans.find(projectId, id, MAX_TRACES_NAMED + 1, signal);
    const trace = onlyTrace(found.map(({ trace_id }) => trace_id));
    const span = found.find(({ trace_id }) => trace_id === trace) as PricedSpan;
    const price = this.#priceOf(projectId, span);
    const sum = price === null ? null : costOf(span, projectId, this.#prices.price);
    const reason = reasonOf(span, sum);
    return {
      span_id: span.id,
      trace_id: trace,
      cost: span.cost,
      source: reason === 'sent' ? 'sent' : span.cost === null ? 'unknown' : (price?.source ?? 'unknown'),
      reason,
      ...(statedModel(span.attributes) ?? { provider: null, model: null }),
      price,
      sum,
    };
  }

  #priceOf(projectId: string, span: PricedSpan): AppliedPrice | null {
    const usage = PRICED_KINDS.has(span.kind) ? modelUsage(span) : null;
    if (usage === null) return null;
    const own = this.#prices.own(projectId, usage);
    return own === undefined ? atListPrice(usage) : atOwnPrice(own, usage);
  }
}

function reasonOf(span: PricedSpan, sum: number | null): CostReason {
  const { cost, isCalculated, kind, attributes } = span;
  if (cost !== null && !isCalculated) return 'sent';
  if (cost !== null) return sum === null ? 'price_gone' : sum === cost ? 'priced' : 'price_changed';
  if (sum !== null) return 'not_repriced';
  if (!PRICED_KINDS.has(kind)) return 'not_priced';
  if (statedModel(attributes) === null) return 'no_model';
  return modelUsage(span) === null ? 'no_tokens' : 'no_price';
}
