import { randomUUID } from 'node:crypto';
import {
  normaliseCost,
  normaliseTags,
  normaliseText,
  optionalText,
  positiveZero,
  type Normaliser,
} from '../../../schema/normalise.js';
import type { SpanInput } from './schema.js';
import { toJsonText } from '../../../json-text.js';
import type { Span } from './span.js';
import type { Tags } from '../../../schema/tags.js';

/** A span as sent, checked against its schema, becomes a span as stored, but for its price. */
export function normaliseSpan(input: SpanInput, normaliser: Normaliser): Span {
  const startedAt = normaliser.time('started_at', input.started_at);
  const endedAt = normaliser.optionalTime('ended_at', input.ended_at);
  normaliser.order(startedAt, endedAt);
  const id = normaliser.optionalId('id', input.id) ?? randomUUID();
  const parent = normaliser.optionalId('parent_span_id', input.parent_span_id);
  if (parent === id) normaliser.fail('parent_span_id', 'must not be the span itself');
  return {
    id,
    trace_id: normaliser.id('trace_id', input.trace_id),
    parent_span_id: parent,
    session_id: sessionId(input, normaliser),
    session_name: optionalText(input.session?.name ?? input.session_name),
    name: normaliseText(input.name),
    kind: input.kind ?? 'generic',
    status: input.status ?? null,
    started_at: startedAt,
    ended_at: endedAt,
    duration_ms:
      input.duration_ms != null
        ? positiveZero(input.duration_ms)
        : endedAt === null
          ? null
          : (endedAt - startedAt) / 1000,
    cost: input.cost == null ? null : normaliseCost(input.cost),
    input_data: payload(input.input_data),
    output_data: payload(input.output_data),
    attributes: input.attributes ?? {},
    tags: normaliseTags(input.tags),
    trace_tags: normaliseTags(input.trace_tags),
    session_tags: sessionTags(input),
    error_code: optionalText(input.error_code),
    error_message: optionalText(input.error_message),
    error_stack: optionalText(input.error_stack),
    code_filepath: optionalText(input.code_filepath),
    code_lineno: input.code_lineno ?? null,
  };
}

function sessionId(input: SpanInput, normaliser: Normaliser): string | null {
  const direct = normaliser.optionalId('session_id', input.session_id);
  if (input.session == null) return direct;
  const nested = normaliser.optionalId('session/id', input.session.id);
  if (direct === null && nested === null) normaliser.fail('session/id', 'is required');
  if (direct !== null && nested !== null && direct !== nested) normaliser.fail('session/id', 'must equal session_id');
  return direct ?? nested;
}

function sessionTags(input: SpanInput): Tags {
  if (input.session?.tags == null) return normaliseTags(input.session_tags);
  return { ...normaliseTags(input.session.tags), ...normaliseTags(input.session_tags) };
}

function payload(value: SpanInput['input_data']): string | null {
  if (value == null) return null;
  return typeof value === 'string' ? normaliseText(value) : toJsonText(value);
}
