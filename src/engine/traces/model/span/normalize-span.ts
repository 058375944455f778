import { randomUUID } from 'node:crypto';
import {
  normalizeCost,
  normalizeTags,
  normalizeText,
  positiveZero,
  type Normalizer,
} from '../../../schema/normalize.js';
import type { SpanInput } from './schema.js';
import { toJsonText } from '../../../json-text.js';
import { plainFields, type Field, type PlainField } from '../list/fields.js';
import { NOTHING_SAID, type Span } from './span.js';
import type { Tags } from '../../../schema/tags.js';

const PLAIN_FIELDS = Object.entries(plainFields) as [PlainField, Field][];

/** A span as sent, checked against its schema, becomes a span as stored, except for its price. */
export function normalizeSpan(input: SpanInput, normalizer: Normalizer): Span {
  const startedAt = normalizer.time('started_at', input.started_at);
  const endedAt = normalizer.optionalTime('ended_at', input.ended_at);
  normalizer.order(startedAt, endedAt);
  const id = normalizer.optionalId('id', input.id) ?? randomUUID();
  const parent = normalizer.optionalId('parent_span_id', input.parent_span_id);
  if (parent === id) normalizer.fail('parent_span_id', 'must not be the span itself');
  return {
    id,
    trace_id: normalizer.id('trace_id', input.trace_id),
    parent_span_id: parent,
    session_id: sessionId(input, normalizer),
    session_name: normalizeText(input.session?.name ?? input.session_name ?? '') || null,
    name: normalizeText(input.name),
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
    cost: input.cost == null ? null : normalizeCost(input.cost),
    input_data: payload(input.input_data),
    output_data: payload(input.output_data),
    attributes: input.attributes ?? {},
    tags: normalizeTags(input.tags),
    trace_tags: normalizeTags(input.trace_tags),
    session_tags: sessionTags(input),
    ...plain(input),
  };
}

function plain(input: SpanInput): Pick<Span, PlainField> {
  const kept: Record<PlainField, unknown> = { ...NOTHING_SAID };
  for (const [name, { emptyIsNull = false }] of PLAIN_FIELDS) {
    const value = input[name];
    if (value == null || (emptyIsNull && value === '')) continue;
    kept[name] = typeof value === 'string' ? normalizeText(value) : value;
  }
  return kept as Pick<Span, PlainField>;
}

function sessionId(input: SpanInput, normalizer: Normalizer): string | null {
  const direct = normalizer.optionalId('session_id', input.session_id);
  if (input.session == null) return direct;
  const nested = normalizer.optionalId('session/id', input.session.id);
  if (direct === null && nested === null) normalizer.fail('session/id', 'is required');
  if (direct !== null && nested !== null && direct !== nested) normalizer.fail('session/id', 'must equal session_id');
  return direct ?? nested;
}

function sessionTags(input: SpanInput): Tags {
  if (input.session?.tags == null) return normalizeTags(input.session_tags);
  return { ...normalizeTags(input.session.tags), ...normalizeTags(input.session_tags) };
}

function payload(value: SpanInput['input_data']): string | null {
  if (value == null) return null;
  return typeof value === 'string' ? normalizeText(value) : toJsonText(value);
}
