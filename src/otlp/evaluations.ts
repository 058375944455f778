import type { SpanEvaluation } from '../features/scores/span-scores.js';
import type { AttributeValue, OtlpSpan } from './model.js';

/** The event of OpenTelemetry's GenAI conventions that says how an output was evaluated. */
const EVALUATION = 'gen_ai.evaluation.result';

/**
 * The evaluations that a span's events say: a score, or a label where there is none.
 * @param span index of the span among those of its request
 */
export function evaluationsOf({ events }: OtlpSpan, span: number): SpanEvaluation[] {
  const found: SpanEvaluation[] = [];
  for (const { name, attributes } of events) {
    if (name !== EVALUATION) continue;
    const label = given(attributes['gen_ai.evaluation.score.label']);
    const value = given(attributes['gen_ai.evaluation.score.value']);
    if (value === undefined && label === undefined) continue;
    found.push({
      span,
      name: given(attributes['gen_ai.evaluation.name']),
      value: value ?? label,
      label: value === undefined ? undefined : label,
      comment: given(attributes['gen_ai.evaluation.explanation']),
    });
  }
  return found;
}

function given(value: AttributeValue | undefined): unknown {
  return value === null || value === '' ? undefined : value;
}
