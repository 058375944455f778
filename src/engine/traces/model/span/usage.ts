import type { Span } from './span.js';

/** Kinds of spans whose own model call is paid for; wrappers repeat the usage of the calls below them. */
export const PRICED_KINDS: ReadonlySet<string> = new Set(['llm', 'embedding', 'reranker']);

/** Kinds that repeat the model, the usage and the cost of the calls beneath them: what they state never counts. */
export const WRAPPER_KINDS: ReadonlySet<string> = new Set(['agent', 'chain', 'tool']);

/** The attributes that a price depends on. */
export const USAGE_ATTRIBUTES = [
  'provider',
  'model',
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
] as const;

/** A model as it was stated, with or without its provider in front, and its provider; null: not stated. */
export interface StatedModel {
  readonly provider: string | null;
  readonly model: string;
}

/** Tokens as they were stated, null: not; cached ones are part of the input tokens, also where they were counted apart. */
export interface StatedTokens {
  /** All input tokens: uncached, read from a cache and written to one. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
}

/** The model that a span states; null: no model. */
export function statedModel({ provider, model }: Span['attributes']): StatedModel | null {
  if (typeof model !== 'string' || model === '') return null;
  return { provider: typeof provider === 'string' && provider !== '' ? provider : null, model };
}

/** The tokens that a span states; null: none. */
export function tokensOf(attributes: Span['attributes']): StatedTokens | null {
  const input = tokenCount(attributes['inputTokens']);
  const outputTokens = tokenCount(attributes['outputTokens']);
  const cacheReadTokens = tokenCount(attributes['cacheReadTokens']);
  const cacheWriteTokens = tokenCount(attributes['cacheWriteTokens']);
  if ((input ?? outputTokens ?? cacheReadTokens ?? cacheWriteTokens) === null) return null;
  const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  // A producer whose cached tokens exceed the input counted them apart: then its input is all uncached, and they add to it.
  const inputTokens = input !== null && cached > input ? input + cached : input;
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
}

function tokenCount(value: unknown): number | null {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 && count <= 1e12 ? count : null;
}
