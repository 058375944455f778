import type { Span } from '../../domain/span/span.js';
import { PRICED_KINDS } from './genai/kind.js';

/** Ancestors looked at for each priced span: nested calls of one model sit close together. */
const MAX_ANCESTORS = 8;

/** What {@link foldNestedUsage} may change. */
export type FoldableSpan = { -readonly [K in keyof Span]: Span[K] };

/**
 * Some SDKs send one model call as two nested spans that both state its usage. Of two priced spans of which one lies
 * within the other and which state the same usage, the outer one becomes a `chain`, so that the call counts once. A cost
 * that only the outer one states moves to the inner one.
 * Works within one request, where exporters that batch send such pairs; changes the spans in place.
 */
export function foldNestedUsage(spans: readonly FoldableSpan[]): void {
  const priced = spans.filter((span) => PRICED_KINDS.has(span.kind) && usageOf(span) !== null);
  if (priced.length < 2) return;
  const byId = new Map(spans.map((span) => [keyOf(span.trace_id, span.id), span]));
  for (const inner of priced) {
    const usage = usageOf(inner);
    let outer = parentOf(inner, byId);
    for (let i = 0; i < MAX_ANCESTORS && outer !== undefined && outer !== inner; i++) {
      if (PRICED_KINDS.has(outer.kind) && usageOf(outer) === usage) {
        inner.cost ??= outer.cost;
        outer.cost = null;
        outer.kind = 'chain';
        break;
      }
      outer = parentOf(outer, byId);
    }
  }
}

function keyOf(traceId: string, spanId: string): string {
  return `${traceId} ${spanId}`;
}

function parentOf(span: Span, byId: ReadonlyMap<string, FoldableSpan>): FoldableSpan | undefined {
  return span.parent_span_id === null ? undefined : byId.get(keyOf(span.trace_id, span.parent_span_id));
}

function usageOf(span: Span): string | null {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = span.attributes;
  if (inputTokens === undefined && outputTokens === undefined) return null;
  return [inputTokens ?? 0, outputTokens ?? 0, cacheReadTokens ?? 0, cacheWriteTokens ?? 0].join(' ');
}
