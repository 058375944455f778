import type { Span } from '../span/span.js';
import type { WriteLog } from '../write-log.js';
import type { SpanKey } from './partial-span.js';

/** Spans that parts are to be added to, as they are now. */
export interface OpenedSpans {
  /** The span as it was acknowledged last; undefined: there is none. Its call is not described. */
  find(key: SpanKey): Span | undefined;
  /**
   * Takes spans in place of those that were opened. Its `append` throws DomainError `unavailable` with the reason
   * {@link WRITTEN_MEANWHILE}, and nothing is stored, when anybody else has written to their traces since.
   */
  readonly log: WriteLog;
  close(): void;
}

/** Reason of an append that another write was faster than: open the spans again. */
export const WRITTEN_MEANWHILE = 'written_meanwhile';

/** Where spans in parts are put together. */
export interface PartialSpans {
  /**
   * Opens spans, also those that are acknowledged and not flushed. A caller that opens spans of one trace twice at once must not
   * append twice.
   * @throws DomainError `unavailable`; `too_large` for more than fits into memory
   */
  open(projectId: string, keys: readonly SpanKey[]): Promise<OpenedSpans>;
}
