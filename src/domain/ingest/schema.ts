import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { sessionFields, spanFields, traceFields } from '../list/fields.js';
import { spanKind } from '../span/kind.js';
import { byKey, uuid } from '../validation/fields.js';

/*
 * What clients send. Optional fields also take null, which means absent; unknown fields are ignored. Sizes are bounded
 * only where a value becomes a key or a name: payloads are bounded by the body limit.
 */

export const time = (description: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Number()], {
    description: `${description} ISO 8601 with or without offset (without: UTC), or Unix seconds or milliseconds.`,
  });
export const optional = <T extends TSchema>(schema: T) =>
  Type.Optional(
    Type.Union(
      [schema, Type.Null()],
      typeof schema['description'] === 'string' ? { description: schema['description'] } : {},
    ),
  );

const label = (description: string, minLength = 0) => Type.String({ minLength, maxLength: 4096, description });
const name = (description: string) => label(description, 1);
const ANY_TAGS = { count: 1000 };
const tagText = (maxLength?: number) => Type.String(maxLength === undefined ? {} : { maxLength });
/** In characters. */
export const MAX_TAG_KEY = 1024;
/** @param limits how many there may be, and how long a value may be, in characters */
export const tags = (description: string, limits: { readonly count: number; readonly length?: number } = ANY_TAGS) =>
  byKey(Type.Union([tagText(limits.length), Type.Number(), Type.Boolean(), Type.Null()]), {
    propertyNames: { maxLength: MAX_TAG_KEY, 'x-must': `have keys of at most ${MAX_TAG_KEY} characters` },
    maxProperties: limits.count,
    description: `${description} Values are strings; numbers and booleans become their JSON text, nulls are dropped.`,
  });
const attributes = Type.Record(Type.String(), Type.Unknown(), {
  description: spanFields.attributes.description,
});
const status = (description: string) =>
  Type.Union([Type.Literal('unset'), Type.Literal('ok'), Type.Literal('error')], { description });
const cost = (description: string) => Type.Number({ minimum: 0, maximum: 1e12, description });
const duration = (description: string) => Type.Number({ minimum: 0, maximum: 1e15, description });
const payload = (description: string) =>
  Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown())], {
    description: `${description} An object or array is stored as its JSON text.`,
  });

export const SpanInput = Type.Object(
  {
    id: optional(uuid('Span id; generated when absent. Sending an id again replaces the span.')),
    trace_id: uuid(spanFields.trace_id.description),
    parent_span_id: optional(uuid(spanFields.parent_span_id.description)),
    session_id: optional(uuid('Session to associate with.')),
    session_name: optional(label(spanFields.session_name.description)),
    session: optional(
      Type.Object(
        {
          id: optional(uuid('Session id.')),
          name: optional(label(sessionFields.name.description)),
          tags: optional(tags('Tags applied to the session.')),
        },
        { description: 'Alternative to session_id.' },
      ),
    ),
    name: name(spanFields.name.description),
    kind: optional(spanKind(`${spanFields.kind.description} Default: generic.`)),
    status: optional(status(spanFields.status.description)),
    started_at: time(spanFields.started_at.description),
    ended_at: optional(time(spanFields.ended_at.description)),
    duration_ms: optional(duration('Duration in milliseconds; when absent, end minus start.')),
    cost: optional(
      cost(
        'Cost in US dollars. When absent, it is calculated for LLM spans from the attributes provider, model, inputTokens ' +
          'and outputTokens, and cacheReadTokens and cacheWriteTokens when given. Cached tokens are parts of the input ' +
          'tokens; when they are more than these, they were counted apart and are priced beside them.',
      ),
    ),
    input_data: optional(payload(spanFields.input_data.description)),
    output_data: optional(payload(spanFields.output_data.description)),
    attributes: optional(attributes),
    tags: optional(tags(spanFields.tags.description)),
    trace_tags: optional(tags(spanFields.trace_tags.description)),
    session_tags: optional(tags(spanFields.session_tags.description)),
    error_code: optional(Type.String({ description: spanFields.error_code.description })),
    error_message: optional(Type.String({ description: spanFields.error_message.description })),
    error_stack: optional(Type.String({ description: spanFields.error_stack.description })),
    code_filepath: optional(Type.String({ description: spanFields.code_filepath.description })),
    code_lineno: optional(
      Type.Integer({ minimum: 0, maximum: 2 ** 53 - 1, description: spanFields.code_lineno.description }),
    ),
  },
  { $id: 'SpanInput', description: 'A span as it is sent.' },
);
export type SpanInput = Static<typeof SpanInput>;

export const TraceInput = Type.Object(
  {
    id: optional(uuid('Trace id; generated when absent. Posting an id again replaces the statement.')),
    session_id: uuid('Session the trace belongs to.'),
    name: name('Name of the trace.'),
    started_at: time('Start time.'),
    ended_at: optional(time('End time.')),
    status: optional(status('Outcome of the trace; derived from its spans when absent.')),
    duration_ms: optional(duration(traceFields.duration_ms.description)),
    cost: optional(cost(traceFields.cost.description)),
    attributes: optional(attributes),
    tags: optional(tags('Tags of the trace; they win over those its spans bring.')),
  },
  {
    $id: 'TraceInput',
    description: 'A statement about a trace; what it states wins over what is derived from its spans.',
  },
);
export type TraceInput = Static<typeof TraceInput>;

export const SessionInput = Type.Object(
  {
    id: optional(uuid('Session id; generated when absent. Posting an id again replaces the statement.')),
    project_id: Type.String({ description: "Project of the session; must be the API key's." }),
    name: optional(label('Name of the session.')),
    attributes: optional(attributes),
    tags: optional(tags('Tags of the session; they win over those its spans bring.')),
  },
  { $id: 'SessionInput', description: 'A statement about a session.' },
);
export type SessionInput = Static<typeof SessionInput>;
