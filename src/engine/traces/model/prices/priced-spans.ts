import type { SpanId } from '../list/one.js';
import type { PricedParts } from '../span/pricing.js';
import type { CalculatedSpan, PlacedSpan } from './calculated-spans.js';

/** A span as far as its cost depends on it. */
export interface PricedSpan extends PlacedSpan, Pick<CalculatedSpan, 'cost'>, PricedParts {
  /** Whether the cost is not its client's. */
  readonly isCalculated: boolean;
}

export interface PricedSpans {
  /** The spans with an id, by trace. @throws DomainError `unavailable` */
  find(projectId: string, span: SpanId, limit: number, signal?: AbortSignal): Promise<PricedSpan[]>;
}
