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
  const { call = NO_CALL } = span;
  // Properties are written out, as copying all but one of them costs as much as rendering the span.
  return {
    id: span.id,
    trace_id: span.trace_id,
    parent_span_id: span.parent_span_id,
    session_id: span.session_id,
    session_name: span.session_name === '' ? null : span.session_name,
    name: span.name,
    kind: span.kind,
    status: span.status,
    started_at: formatTimestamp(span.started_at),
    ended_at: span.ended_at === null ? null : formatTimestamp(span.ended_at),
    duration_ms: span.duration_ms,
    cost: span.cost,
    input_data: span.input_data,
    output_data: span.output_data,
    attributes: span.attributes,
    tags: span.tags,
    trace_tags: span.trace_tags,
    session_tags: span.session_tags,
    error_code: span.error_code,
    error_message: span.error_message,
    error_stack: span.error_stack,
    code_filepath: span.code_filepath,
    code_lineno: span.code_lineno,
    project_id: projectId,
    has_error: hasError(span),
    created_at: formatTimestamp(createdAt),
    provider: call.provider,
    model: call.model,
    input_tokens: call.input_tokens,
    output_tokens: call.output_tokens,
    cache_read_tokens: call.cache_read_tokens,
    cache_write_tokens: call.cache_write_tokens,
    prompt_slug: call.prompt_slug,
    prompt_version: call.prompt_version,
    prompt_version_id: call.prompt_version_id,
  };
}
