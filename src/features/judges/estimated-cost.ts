import type { PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import { callProvider } from './call-spans.js';

/** US dollars; null, with the reason, when the price is not known. */
export interface EstimatedCost {
  readonly cost: number | null;
  readonly cost_unknown_reason: string | null;
}

/** Cost of a call by tokens that were estimated, none of them from a cache. @param model null: none is named */
export function estimatedCost(
  price: PriceModelCall,
  projectId: string,
  model: string | null,
  { input, output }: { readonly input: number; readonly output: number },
): EstimatedCost {
  if (model === null) return { cost: null, cost_unknown_reason: 'No model is set' };
  const cached = { cacheReadTokens: 0, cacheWriteTokens: 0 };
  const usage = { inputTokens: input, outputTokens: output, ...cached, at: new Date() };
  const cost = price(projectId, { provider: callProvider(model), model, ...usage });
  const unknown = `The model ${model} has no price; set a custom price in the project`;
  return { cost, cost_unknown_reason: cost === null ? unknown : null };
}
