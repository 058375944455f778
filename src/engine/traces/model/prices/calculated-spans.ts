import type { Span } from '../span/span.js';
import type { Micros } from '../../../timestamp.js';

/** Place of a span in the order in which spans are repriced. */
export interface SpanPlace {
  readonly started_at: Micros;
  readonly trace_id: string;
  readonly id: string;
}

/** A stored span, to be read as a whole. */
export interface PlacedSpan extends SpanPlace {
  /** Names the stored version of the span. */
  readonly version: number;
  /** Size of the whole span, roughly. */
  readonly bytes: number;
}

/** The fields of a stored span that its price depends on. */
export interface CalculatedSpan extends PlacedSpan, Pick<Span, 'kind' | 'cost' | 'attributes'> {}

/** A stored span as a whole. */
export interface StoredSpan {
  readonly version: number;
  readonly span: Span;
}

/**
 * A look at the stored spans of a project, from `open` to `close`. Whatever a client writes or deletes after it was
 * opened wins over what is replaced here.
 */
export interface SpanRevision {
  /** Whole spans, where their versions are still stored. */
  read(spans: readonly PlacedSpan[]): Promise<StoredSpan[]>;
  /**
   * Stores the spans in place of their versions, through the log that clients write through, but as what they were when
   * they came: nothing is derived again from the order of writes.
   * @param asSent whether they count as sent by a client now instead, as those that a call of a client changes
   * @returns for each when it was taken in; null when a client was faster, and nothing was stored of it
   */
  replace(spans: readonly StoredSpan[], asSent?: boolean): Promise<(Micros | null)[]>;
  close(): void;
}

export interface RepricingSnapshot extends SpanRevision {
  /** Spans of priced kinds whose cost no client has sent, in the order of their places; fewer than asked for: no more. */
  page(scope: RepriceScope, after: SpanPlace | null, limit: number): Promise<CalculatedSpan[]>;
}

/** @throws (from every method) DomainError `unavailable`, `overloaded`: nothing is lost by trying again */
export interface CalculatedSpans {
  count(projectId: string, scope: RepriceScope): Promise<number>;
  /** Opens a snapshot, which sees everything that was acknowledged before. */
  open(projectId: string): Promise<RepricingSnapshot>;
}

/** The spans that a job reprices. Bounds are inclusive; names are compared without regard to case. */
export interface RepriceScope {
  readonly started_after: Micros | null;
  readonly started_before: Micros | null;
  readonly provider: string | null;
  readonly model: string | null;
}
