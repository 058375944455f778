import { PRICED_KINDS, tokensOf } from '../../src/engine/traces/model/span/usage.js';
import type { SentSpan } from './step.js';
import type { Tally } from './tally.js';

/** What a span adds to what is counted, as the server counts it. */
export function tallyOf({ parent_span_id, kind, cost, attributes = {} }: SentSpan): Partial<Tally> {
  const isPriced = PRICED_KINDS.has(kind);
  const tokens = isPriced ? tokensOf(attributes) : null;
  const states = cost !== null && cost !== undefined;
  return {
    traces: parent_span_id == null ? 1 : 0,
    spans: 1,
    priced: states ? 1 : 0,
    unpriced: !states && tokens !== null ? 1 : 0,
    cost: cost ?? 0,
    inputTokens: Math.round(tokens?.inputTokens ?? 0),
    outputTokens: Math.round(tokens?.outputTokens ?? 0),
  };
}
