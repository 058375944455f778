import type { SpanRead } from '../list/fields.js';
import { formatTimestamp, type Micros } from '../../../timestamp.js';
import type { Span } from './span.js';
import { NO_CALL } from './span-call.js';

/** Whether a span counts as failed: by its status, or because it carries an error code or message. */
export function hasError(span: Pick<Span, 'status' | 'error_code' | 'error_message'>): boolean {
  return span.status === 'error' || Boolean(span.error_code) || Boolean(span.error_message);
}

/** A span as it is answered right after it was stored; the same as a later read of it from the store. */
export function toSpanRead(span: Span, projectId: string, createdAt: Micros): SpanRead {
  const read: SpanRead & Record<'call' | 'cost_calculated', undefined> = {
    ...span,
    // What is undefined is not rendered: to leave it out of the copy costs as much as rendering the span.
    call: undefined,
    cost_calculated: undefined,
    started_at: formatTimestamp(span.started_at),
    ended_at: span.ended_at === null ? null : formatTimestamp(span.ended_at),
    project_id: projectId,
    has_error: hasError(span),
    created_at: formatTimestamp(createdAt),
    ...(span.call ?? NO_CALL),
  };
  return read;
}
