import type { Span } from '../engine/traces/model/span/span.js';
import { PRICED_KINDS } from '../engine/traces/model/span/usage.js';

/** Ancestors looked at for each priced span: nested spans of one model call sit close together. */
const MAX_ANCESTORS = 8;

/** A span while it is being made. */
export type MutableSpan = { -readonly [K in keyof Span]: Span[K] };

/**
 * Some SDKs send one model call as two nested spans that both state its usage. Of two priced spans of which one lies
 * within the other and which state the same usage, the outer one becomes a `chain`, so that the call counts once. A cost
 * that only the outer one states moves to the inner one.
 * Works within one request, where exporters that batch send such pairs; changes the spans in place.
 */
export function foldNestedUsage(spans: readonly MutableSpan[]): void {
  const suspects = spansOfSameUsage(spans);
  if (suspects.size === 0) return;
  const byId = new Map(spans.map((span) => [idOf(span.trace_id, span.id), span]));
  for (const [inner, usage] of suspects) {
    if (!PRICED_KINDS.has(inner.kind)) continue; // folded meanwhile, as the outer one of another
    let outer = parentOf(inner, byId);
    for (let i = 0; i < MAX_ANCESTORS && outer !== undefined && outer !== inner; i++) {
      if (PRICED_KINDS.has(outer.kind) && suspects.get(outer) === usage) {
        inner.cost ??= outer.cost;
        outer.cost = null;
        outer.kind = 'chain';
      }
      outer = parentOf(outer, byId);
    }
  }
}

/** Priced spans of which another one of the same trace states the same usage, each with that usage. */
function spansOfSameUsage(spans: readonly MutableSpan[]): ReadonlyMap<MutableSpan, string> {
  const first = new Map<string, MutableSpan>();
  const found = new Map<MutableSpan, string>();
  for (const span of spans) {
    const usage = PRICED_KINDS.has(span.kind) ? usageOf(span) : null;
    if (usage === null) continue;
    const other = first.get(usage);
    if (other === undefined) first.set(usage, span);
    else found.set(other, usage).set(span, usage);
  }
  return found;
}

/** Trace and token counts; null when no token was used. */
function usageOf(span: Span): string | null {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = span.attributes;
  const counts = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens].map(tokens);
  return counts.every((count) => count === 0) ? null : `${span.trace_id} ${counts.join(' ')}`;
}

/** An exporter may have sent anything under these names. */
function tokens(value: unknown): number {
  const count = typeof value === 'number' || typeof value === 'string' ? Number(value) : 0;
  return count > 0 ? count : 0;
}

function idOf(traceId: string, spanId: string): string {
  return `${traceId} ${spanId}`;
}

function parentOf(span: Span, byId: ReadonlyMap<string, MutableSpan>): MutableSpan | undefined {
  return span.parent_span_id === null ? undefined : byId.get(idOf(span.trace_id, span.parent_span_id));
}
