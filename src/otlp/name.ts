import { SpanInput } from '../engine/traces/model/span/schema.js';
import type { Evidence } from './genai/evidence.js';
import type { OtlpSpan } from './model.js';

/** Longest name of a span, the same as over REST: names become keys of lists, so they are bounded. */
export const MAX_NAME = SpanInput.properties.name.maxLength ?? Infinity;

/** An unnamed span is, to OpenTelemetry, one whose name is unknown. */
const UNKNOWN_NAME = 'unknown';

/**
 * What a span is called: by its own name, except where that says only which function of a library was called, while the
 * application said what for. Traces are called as their root spans are.
 */
export function nameOf(span: OtlpSpan, evidence: Evidence, kind: string, isRoot: boolean): string {
  const stated =
    (isRoot ? evidence.text('traceName') : null) ?? (isOperation(span, kind) ? evidence.text('functionId') : null);
  if (stated !== null && stated.length <= MAX_NAME) return stated;
  return span.name === '' ? UNKNOWN_NAME : span.name;
}

/**
 * Whether it is the span that the AI SDK puts around all calls of one operation: `ai.generateText`, or in its version 7
 * `invoke_agent gpt-4o`. The calls within have the function's id, too, and keep their names.
 */
function isOperation({ name, attributes }: OtlpSpan, kind: string): boolean {
  if (name.startsWith('ai.')) return kind === 'chain';
  const { 'gen_ai.operation.name': operation, 'gen_ai.request.model': model } = attributes;
  return (
    kind !== 'llm' && typeof operation === 'string' && typeof model === 'string' && name === `${operation} ${model}`
  );
}
