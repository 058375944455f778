import type { Span } from '../span/span.js';
import type { Micros } from '../../../timestamp.js';
import type { PostedSession, PostedTrace } from '../trace/posted.js';
import type { Imported, PageOf, RecordPage } from './record-page.js';

/** A span with its times: when its client wrote it, and when it was received as it is. */
export interface DatedSpan {
  readonly span: Span;
  readonly writtenAt: Micros;
  readonly receivedAt: Micros;
}

/**
 * Spans, and what was posted about traces and sessions. Pages are records as JSON texts.
 * @throws DomainError `unavailable`; from pages also `invalid` when `after` is not from an earlier one
 */
export interface SpanTransfer {
  /**
   * Spans as they are now, in the order in which they were stored. One that is written again moves to the end: who continues
   * until there is no more has every span that was there all the time, and what was written until then.
   */
  spans(of: PageOf): Promise<RecordPage<string>>;
  /** What was posted about traces. */
  traces(of: PageOf): Promise<RecordPage<string>>;
  /** What was posted about sessions. */
  sessions(of: PageOf): Promise<RecordPage<string>>;
  /**
   * Stores spans, except for those that a client wrote at that time or later. No judge takes them for new ones.
   * @throws DomainError those of WriteLog
   */
  takeSpans(projectId: string, spans: readonly DatedSpan[]): Promise<Imported>;
  /** Stores what was posted about traces, unless there is something. */
  takeTraces(projectId: string, traces: readonly PostedTrace[]): Promise<Imported>;
  /** Stores what was posted about sessions, unless there is something. */
  takeSessions(projectId: string, sessions: readonly PostedSession[]): Promise<Imported>;
}
