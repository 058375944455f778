import { calcPrice, type Provider, type Usage } from '@pydantic/genai-prices';
import { listedModel } from '../listed-models.js';
import { listedProvider, modelNameOf } from '../model-name.js';
import { normaliseCost } from '../schema/normalise.js';
import type { Span } from './span.js';

/** Kinds of spans whose own model call is paid for; wrappers repeat the usage of the calls below them. */
export const PRICED_KINDS: ReadonlySet<string> = new Set(['llm', 'embedding', 'reranker']);

/** Tokens that a model call used. Cached ones are part of the input tokens, also when the client counted them apart. */
export interface ModelUsage {
  /** Provider as it was stated; null: it was not. */
  readonly provider: string | null;
  /** Model as it was stated, with or without its provider in front. */
  readonly model: string;
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
  return cost === null ? null : normaliseCost(cost);
}

/** The span with a cost that is not its client's. */
export function withCalculatedCost(span: Span, cost: number | null): Span {
  return { ...span, cost, cost_calculated: cost !== null };
}

/** Fields that the price of a span depends on. */
type PricedParts = Pick<Span, 'kind' | 'attributes' | 'started_at'>;

/** The attributes that a price depends on. */
export const USAGE_ATTRIBUTES = [
  'provider',
  'model',
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
] as const;

/** The model that a span states, and its provider if it does; null: no model. */
export function statedModel({ provider, model }: Span['attributes']): Pick<ModelUsage, 'provider' | 'model'> | null {
  if (typeof model !== 'string' || model === '') return null;
  return { provider: typeof provider === 'string' && provider !== '' ? provider : null, model };
}

function modelUsage(span: PricedParts): ModelUsage | null {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = span.attributes;
  const stated = statedModel(span.attributes);
  if (stated === null) return null;
  const input = tokenCount(inputTokens);
  const output = tokenCount(outputTokens);
  if (input === null || output === null) return null;
  const read = tokenCount(cacheReadTokens) ?? 0;
  const write = tokenCount(cacheWriteTokens) ?? 0;
  // A producer whose cached tokens exceed the input counted them apart: then its input is all uncached, and they add to it.
  const apart = read + write > input;
  return {
    ...stated,
    inputTokens: apart ? input + read + write : input,
    outputTokens: output,
    cacheReadTokens: read,
    cacheWriteTokens: write,
    at: new Date(Math.floor(span.started_at / 1000)),
  };
}

function tokenCount(value: unknown): number | null {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 && count <= 1e12 ? count : null;
}

/** How many pairs of provider and model are remembered; a client's made-up names must not fill the memory. */
const MAX_REMEMBERED = 10_000;

/** A model at the one provider that has its price, with no other model. */
interface Listed {
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
function listedAs({ provider, model }: ModelUsage): Listed | null {
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

function priceAt({ provider, model }: Listed, usage: ModelUsage) {
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
