import { calcPrice, type Provider, type Usage } from '@pydantic/genai-prices';
import { listedModel } from '../../../models/listed-models.js';
import { listedProvider, modelNameOf } from '../../../models/model-name.js';
import { normalizeCost } from '../../../schema/normalize.js';
import type { Span } from './span.js';
import { PRICED_KINDS, statedModel, tokensOf, type StatedModel } from './usage.js';

/** Tokens that a model call used. Cached ones are part of the input tokens, also when the client counted them apart. */
export interface ModelUsage extends StatedModel {
  /** All input tokens: uncached, read from a cache and written to one. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** When the call was made: prices change. */
  readonly at: Date;
}

/**
 * Gives the cost of a model call, in US dollars; null when the model is not known, never 0 for that.
 */
export type PriceModelCall = (projectId: string, usage: ModelUsage) => number | null;

/** The span with its cost: the one that the client sent, else the price of its model call, if it is one. */
export function priceSpan(span: Span, projectId: string, price: PriceModelCall): Span {
  if (span.cost !== null) return span;
  const cost = costOf(span, projectId, price);
  return cost === null ? span : withCalculatedCost(span, cost);
}

/** Cost of a span that came without one; null when the price is not known. */
export function costOf(span: PricedParts, projectId: string, price: PriceModelCall): number | null {
  if (!PRICED_KINDS.has(span.kind)) return null;
  const usage = modelUsage(span);
  const cost = usage === null ? null : price(projectId, usage);
  return cost === null ? null : normalizeCost(cost);
}

/** The span with a cost that is not its client's. */
export function withCalculatedCost(span: Span, cost: number | null): Span {
  return { ...span, cost, cost_calculated: cost !== null };
}

/** Fields that the price of a span depends on. */
export type PricedParts = Pick<Span, 'kind' | 'attributes' | 'started_at'>;

/** What a model call used; null: it states no model, or no tokens. */
export function modelUsage({ attributes, started_at }: PricedParts): ModelUsage | null {
  const stated = statedModel(attributes);
  const tokens = tokensOf(attributes);
  if (stated === null || tokens === null || tokens.inputTokens === null || tokens.outputTokens === null) return null;
  return {
    ...stated,
    inputTokens: tokens.inputTokens,
    outputTokens: tokens.outputTokens,
    cacheReadTokens: tokens.cacheReadTokens ?? 0,
    cacheWriteTokens: tokens.cacheWriteTokens ?? 0,
    at: new Date(Math.floor(started_at / 1000)),
  };
}

/** How many pairs of provider and model are remembered; a client's made-up names must not fill the memory. */
const MAX_REMEMBERED = 10_000;

/** A model at the one provider that has its price, with no other model. */
export interface Listed {
  readonly provider: Provider;
  readonly model: string;
}

/** Longest names of a provider and its model together, in characters. */
const LONGEST_NAMES = 1024;

/** List prices of the models that `@pydantic/genai-prices` knows, with its aliases for providers. */
export function createListPrices(): PriceModelCall {
  const remembered = new Map<string, Listed | null>();
  return (_projectId, usage) => {
    const key = `${usage.provider ?? ''}\n${usage.model}`;
    // No model has such a name, and ten thousand of them would fill the memory.
    if (key.length > LONGEST_NAMES) return null;
    let listed = remembered.get(key);
    if (listed === undefined) {
      listed = listedAs(usage);
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(key, listed);
    }
    return listed === null ? null : (priceAt(listed, usage)?.total_price ?? null);
  };
}

/** The model as it is listed: as it was stated, else without its provider's name in front. */
export function listedAs({ provider, model }: ModelUsage): Listed | null {
  const stated = { provider, model };
  const meant = modelNameOf(provider, model);
  const isSame = meant.provider === provider && meant.model === model;
  for (const name of isSame ? [stated] : [stated, meant]) {
    const at = name.provider === null ? undefined : listedProvider(name.provider);
    const found = at === undefined ? undefined : listedModel(at, name.model);
    // With no other model the library searches no other.
    if (at !== undefined && found !== undefined) return { provider: { ...at, models: [found] }, model: name.model };
  }
  return null;
}

/** What a call costs at its list price, with the rates of it; null: that is not known. */
export function priceAt({ provider, model }: Listed, usage: ModelUsage) {
  return calcPrice(toLibrary(usage), model, { provider, timestamp: usage.at });
}

function toLibrary(usage: ModelUsage): Usage {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    ...(usage.cacheReadTokens > 0 ? { cache_read_tokens: usage.cacheReadTokens } : {}),
    ...(usage.cacheWriteTokens > 0 ? { cache_write_tokens: usage.cacheWriteTokens } : {}),
  };
}
