import type { SpanRead } from '../list/fields.js';
import { formatTimestamp, type Micros } from '../time/timestamp.js';
import type { Span } from './span.js';

/** Whether a span counts as failed: by its status, or because it carries an error code or message. */
export function hasError(span: Pick<Span, 'status' | 'error_code' | 'error_message'>): boolean {
  return span.status === 'error' || Boolean(span.error_code) || Boolean(span.error_message);
}

/** A span as it is answered right after it was stored; the same as a later read of it from the store. */
export function toSpanRead({ cost_calculated: _, ...span }: Span, projectId: string, createdAt: Micros): SpanRead {
  return {
    ...span,
    session_name: span.session_name === '' ? null : span.session_name,
    project_id: projectId,
    started_at: formatTimestamp(span.started_at),
    ended_at: span.ended_at === null ? null : formatTimestamp(span.ended_at),
    has_error: hasError(span),
    created_at: formatTimestamp(createdAt),
  };
}
