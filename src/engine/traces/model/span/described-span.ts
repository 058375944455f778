import type { PromptNames } from './named-prompt.js';
import { costOf, type PriceModelCall } from './pricing.js';
import type { Span } from './span.js';
import { callOf } from './span-call.js';

/** What it takes to say of a span what its client did not. */
export interface SpanSources {
  readonly price: PriceModelCall;
  readonly prompts: PromptNames;
}

/** The span with what its attributes say of its call and its prompt, and with a cost: the one that was sent, else its price. */
export function describedSpan(span: Span, projectId: string, { price, prompts }: SpanSources): Span {
  const call = callOf(span, projectId, prompts);
  const cost = span.cost === null ? costOf(span, projectId, price) : null;
  if (cost === null) return call === undefined ? span : { ...span, call };
  return { ...span, cost, cost_calculated: true, ...(call && { call }) };
}
