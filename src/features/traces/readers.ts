import { sessionFields, spanFields, traceFields } from '../../engine/traces/model/list/fields.js';
import { normalizeSpan } from '../../engine/traces/model/span/normalize-span.js';
import { SpanInput, SpanSession } from '../../engine/traces/model/span/schema.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import {
  normalizeSession,
  normalizeTrace,
  type PostedSession,
  type PostedTrace,
} from '../../engine/traces/model/trace/posted.js';
import { SessionInput, TraceInput } from '../../engine/traces/model/trace/schema.js';
import { compile } from '../../engine/validation/validation.js';
import type { SpanScores } from '../scores/span-scores.js';
import type { ElementReader } from './elements.js';
import { knownFields } from './unknown-fields.js';

const SOME_ID = '00000000-0000-4000-8000-000000000000';

/** How spans are read, except for the scores that they bring. */
export const spanReader: ElementReader<SpanInput, Span> = {
  validator: compile(SpanInput),
  known: knownFields(SpanInput, spanFields, SpanSession),
  placeholders: { trace_id: SOME_ID, name: 'a span', started_at: 0 },
  normalize: normalizeSpan,
};

/** How spans are read, with the scores that they bring. */
export function scoredSpanReader(scores: SpanScores): ElementReader<SpanInput, Span> {
  return {
    ...spanReader,
    normalize(input, normalizer) {
      const span = normalizeSpan(input, normalizer);
      if (input.signals != null || input.ab_choices != null) scores.read(span.id, input, normalizer);
      return span;
    },
  };
}

/** How posted traces are read. */
export const traceReader: ElementReader<TraceInput, PostedTrace> = {
  validator: compile(TraceInput),
  known: knownFields(TraceInput, traceFields),
  placeholders: { session_id: SOME_ID, name: 'a trace', started_at: 0 },
  normalize: normalizeTrace,
};

/** How posted sessions are read. */
export const sessionReader: ElementReader<SessionInput, PostedSession> = {
  validator: compile(SessionInput),
  known: knownFields(SessionInput, sessionFields),
  placeholders: { project_id: SOME_ID },
  normalize: normalizeSession,
};
