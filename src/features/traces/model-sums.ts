import type { ModelSum } from '../../engine/signals/project-series.js';
import { hasError } from '../../engine/traces/model/span/span-read.js';
import type { Span } from '../../engine/traces/model/span/span.js';

/** What spans come to, by model. */
export function modelSums(spans: readonly Span[]): ModelSum[] {
  const sums = new Map<string | null, { -readonly [Name in keyof ModelSum]: ModelSum[Name] }>();
  for (const span of spans) {
    const model = span.call?.model ?? null;
    const sum = sums.get(model) ?? { model, spans: 0, errors: 0, cost: 0, input_tokens: 0, output_tokens: 0 };
    sum.spans += 1;
    sum.errors += hasError(span) ? 1 : 0;
    sum.cost += span.cost ?? 0;
    sum.input_tokens += span.call?.input_tokens ?? 0;
    sum.output_tokens += span.call?.output_tokens ?? 0;
    sums.set(model, sum);
  }
  return [...sums.values()];
}
