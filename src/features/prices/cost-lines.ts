import type { ModelInfo, ModelPrice as ListRates, TieredPrices } from '@pydantic/genai-prices';
import { normalizeCost } from '../../engine/schema/normalize.js';
import { listedAs, priceAt, type ModelUsage } from '../../engine/traces/model/span/pricing.js';
import { parseTimestampText, type Micros } from '../../engine/timestamp.js';
import { costAt, type ModelPrice, type Rates } from './model-price.js';

/** `other`: what is not paid by token, such as a price per request. */
export type TokenClass = 'input' | 'cache_read' | 'cache_write' | 'output' | 'other';

/** One summand of a cost, in US dollars. */
export interface CostLine {
  readonly class: TokenClass;
  readonly tokens: number | null;
  readonly per_million: number | null;
  readonly amount: number;
}

/** The price that a call has, and what it makes of the call's tokens. */
export interface AppliedPrice {
  readonly source: 'own_price' | 'list_price';
  /** The model as it is priced. */
  readonly provider: string;
  readonly model: string;
  readonly valid_from: Micros | null;
  readonly lines: readonly CostLine[];
}

/** A call at a price of the project's own; tokens written to a cache are other input. */
export function atOwnPrice(price: ModelPrice, usage: ModelUsage): AppliedPrice {
  const { inputTokens, cacheReadTokens, outputTokens } = usage;
  const { input_per_million, output_per_million, cache_read_per_million } = price;
  const none = { inputTokens: 0, cacheReadTokens: 0, outputTokens: 0 };
  const input = inputTokens - cacheReadTokens;
  const read = { inputTokens: cacheReadTokens, cacheReadTokens, outputTokens: 0 };
  return {
    source: 'own_price',
    provider: price.provider,
    model: price.model,
    valid_from: price.updated_at,
    lines: used([
      ['input', input, input_per_million, costAt(price, { ...none, inputTokens: input })],
      ['cache_read', cacheReadTokens, cache_read_per_million ?? input_per_million, costAt(price, read)],
      ['output', outputTokens, output_per_million, costAt(price, { ...none, outputTokens })],
    ]),
  };
}

/** A call at its list price; null: it has none. */
export function atListPrice(usage: ModelUsage): AppliedPrice | null {
  const listed = listedAs(usage);
  const found = listed === null ? null : priceAt(listed, usage);
  if (listed === null || found === null) return null;
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage;
  const rate = (key: string) => rateOf(found.model_price[key], inputTokens);
  const input = rate('input_mtok') ?? 0;
  const [read, write] = [rate('cache_read_mtok'), rate('cache_write_mtok')];
  // Cached tokens without a price of their own are other input.
  const uncached = inputTokens - (read === null ? 0 : cacheReadTokens) - (write === null ? 0 : cacheWriteTokens);
  const output = rate('output_mtok') ?? 0;
  const amount = (tokens: number, perMillion: number | null) => normalizeCost((tokens * (perMillion ?? 0)) / 1e6);
  const lines = used([
    ['input', uncached, input, amount(uncached, input)],
    ['cache_read', read === null ? 0 : cacheReadTokens, read, amount(cacheReadTokens, read)],
    ['cache_write', write === null ? 0 : cacheWriteTokens, write, amount(cacheWriteTokens, write)],
    ['output', outputTokens, output, amount(outputTokens, output)],
  ]);
  return {
    source: 'list_price',
    provider: listed.provider.id,
    model: found.model.id,
    valid_from: validFrom(found.model.prices, found.model_price),
    lines: [...lines, ...otherThan(lines, found.total_price)],
  };
}

/** The list price of a model for short calls, as of now; null: it has none, or none by token. */
export function listRates(provider: string, model: string): Rates | null {
  const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const usage = { provider, model, ...none, at: new Date() };
  const listed = listedAs(usage);
  const found = listed === null ? null : priceAt(listed, usage);
  const rate = (key: string) => rateOf(found?.model_price[key], 0);
  const [input, output] = [rate('input_mtok'), rate('output_mtok')];
  if (input === null && output === null) return null;
  return {
    input_per_million: input ?? 0,
    output_per_million: output ?? 0,
    cache_read_per_million: rate('cache_read_mtok'),
  };
}

type Line = readonly [of: TokenClass, tokens: number, perMillion: number | null, amount: number];

function used(lines: readonly Line[]): CostLine[] {
  return lines
    .filter(([of, tokens]) => tokens > 0 || of === 'input' || of === 'output')
    .map(([of, tokens, per_million, amount]) => ({ class: of, tokens, per_million, amount }));
}

/** Differences below it come of rounding. */
const ROUNDED = 1e-9;

function otherThan(lines: readonly CostLine[], total: number): CostLine[] {
  const rest = total - lines.reduce((sum, { amount }) => sum + amount, 0);
  if (Math.abs(rest) <= Math.max(ROUNDED * total, 1e-11)) return [];
  return [{ class: 'other', tokens: null, per_million: null, amount: normalizeCost(rest) }];
}

/** The rate of a call with so many input tokens, by which tiers are chosen. */
function rateOf(price: number | TieredPrices | undefined, inputTokens: number): number | null {
  if (price === undefined || typeof price === 'number') return price ?? null;
  const reached = price.tiers.filter(({ start }) => inputTokens > start);
  return reached.reduce((last, tier) => (tier.start >= last.start ? tier : last), { start: -1, price: price.base })
    .price;
}

/** From when on the list has had a price; null: always, as far as it knows. */
function validFrom(prices: ModelInfo['prices'], applied: ListRates): Micros | null {
  if (!Array.isArray(prices)) return null;
  const constraint = prices.find((each) => each.prices === applied)?.constraint;
  return constraint?.type === 'start_date' ? (parseTimestampText(constraint.start_date) ?? null) : null;
}
