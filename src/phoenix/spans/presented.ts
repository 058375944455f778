import { Type, type Static } from '@sinclair/typebox';
import { time } from '../../engine/schema/parts.js';
import type { Row } from '../../facade/list-rows.js';
import { asObject } from '../../facade/json.js';

/* Spans as clients of Phoenix read them: with attributes of OpenInference, whatever convention they came in. */

const anyObject = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
export const SpanRead = Type.Object(
  {
    name: Type.String({ description: 'Name of the span.' }),
    context: Type.Object(
      {
        trace_id: Type.String({ description: 'Id of the trace, as OpenTelemetry names it.' }),
        span_id: Type.String({ description: 'Id of the span, as OpenTelemetry names it, or its UUID.' }),
      },
      { description: 'Ids of the span.' },
    ),
    span_kind: Type.String({ description: 'Kind of the span, such as `LLM`; `UNKNOWN` if it is generic.' }),
    parent_id: Type.Union([Type.String(), Type.Null()], { description: 'Id of the parent; null: a root span.' }),
    start_time: time('Start of the span.'),
    end_time: Type.Union([time('End of the span.'), Type.Null()], { description: 'End of the span; null: not yet.' }),
    status_code: Type.String({ description: '`OK`, `ERROR` or `UNSET`.' }),
    status_message: Type.String({ description: 'What went wrong.' }),
    attributes: anyObject('Attributes as they were sent, and those of OpenInference that say the same.'),
    events: Type.Array(anyObject('An event.'), { description: 'Events of the span.' }),
  },
  { $id: 'PhoenixSpan', description: 'A span, as clients of Phoenix read it.' },
);
export type SpanRead = Static<typeof SpanRead>;

export type ListedSpan = Row & { readonly status?: string | null };

/** Attributes that are kept for OpenTelemetry as a whole. */
const OTEL = 'otel.';
const EVENTS = 'otel.events';

export function toSpan(span: ListedSpan): SpanRead {
  const { id, trace_id, parent_span_id, kind, started_at, ended_at, error_message, status } = span;
  return {
    ...{ name: span.name, context: { trace_id: trace_id.replaceAll('-', ''), span_id: spanIdOf(id) } },
    span_kind: kind === 'generic' ? 'UNKNOWN' : kind.toUpperCase(),
    parent_id: parent_span_id === null ? null : spanIdOf(parent_span_id),
    ...{ start_time: started_at, end_time: ended_at, status_code: (status ?? 'unset').toUpperCase() },
    ...{ status_message: error_message ?? '', attributes: attributesOf(span), events: eventsOf(span) },
  };
}

/** The 16 digits of OpenTelemetry, of which a UUID is made with zeros. */
function spanIdOf(uuid: string): string {
  const hex = uuid.replaceAll('-', '');
  return hex.endsWith('0'.repeat(16)) ? hex.slice(0, 16) : uuid;
}

function attributesOf(span: ListedSpan): Record<string, unknown> {
  const own = Object.entries(span.attributes ?? {}).filter(([name]) => !name.startsWith(OTEL));
  const known = {
    'input.value': span.input_data,
    'output.value': span.output_data,
    'llm.model_name': span.model,
    'llm.token_count.prompt': span.input_tokens,
    'llm.token_count.completion': span.output_tokens,
  };
  return {
    ...Object.fromEntries(Object.entries(known).filter(([, value]) => value != null)),
    ...Object.fromEntries(own),
  };
}

function eventsOf({ attributes }: ListedSpan): Record<string, unknown>[] {
  const events = attributes?.[EVENTS];
  if (!Array.isArray(events)) return [];
  return events.flatMap((event) => {
    const { name, time: timestamp, attributes: own } = asObject(event) ?? {};
    return typeof name === 'string' ? [{ name, timestamp, attributes: asObject(own) ?? {} }] : [];
  });
}
